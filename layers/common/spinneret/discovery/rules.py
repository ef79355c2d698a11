"""Selection of discovered pages: pure functions."""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from spinneret.discovery.models import (
    DiscoverySource,
    FoundUrl,
    Terms,
    found_item,
    read_found,
)
from spinneret.kernel.errors import UrlInvalid, ValidationFailed
from spinneret.web.exploring.globs import UrlPatterns, compile_pattern, compile_patterns
from spinneret.web.exploring.scope import CrawlScope, ScopeKind
from spinneret.web.exploring.scoring import Relevance
from spinneret.web.fetching.rules import parse_field
from spinneret.web.fetching.urls import Url, cache_url, parse_url


def roots_of(domain: str) -> tuple[Url, ...]:
    """Return the root URLs of a site given by its name, with or without port or scheme.

    Without a scheme, https comes first. Raises UrlInvalid, and ValidationFailed for the URL of a
    page.
    """
    schemes = ("",) if "://" in domain else ("https://", "http://")
    roots = tuple(parse_field(scheme + domain, "domain") for scheme in schemes)
    if any(root.target != "/" for root in roots):
        message = "domain is a page's URL: give only the host"
        raise ValidationFailed.of_field("domain", message)
    return roots


def compiled(pattern: str | None) -> UrlPatterns:
    """Compile the pattern. Raises ValidationFailed, which names the field."""
    if pattern is None:
        return compile_patterns([], "pattern")
    return compile_pattern(pattern, "pattern")


def is_position(text: str) -> bool:
    """Return whether the text is a valid number of URLs to skip."""
    return text.isascii() and text.isdigit() and len(text) <= 6


@dataclass(frozen=True, order=True)
class _Rank:
    """Rank of a page; the better one is greater, and of equals the one found first."""

    score: float
    earliness: int
    key: str


class Candidates:
    """The best pages so far, at most the requested number.

    With a query, pages with the highest scores are kept, otherwise the pages found first.
    """

    def __init__(self, terms: Terms) -> None:
        self.has_more = False
        """Whether more pages match than the requested number."""
        self._terms = terms
        self._patterns = compiled(terms.pattern)
        self._scope = CrawlScope.of(ScopeKind.HOST, map(parse_url, terms.roots))
        query = terms.score_query
        self._relevance = None if query is None else Relevance.to_query(query)
        self._found: dict[str, FoundUrl] = {}
        self._worst: list[_Rank] = []
        self._offered = 0

    @property
    def is_full(self) -> bool:
        """Whether no later page can be selected."""
        return self._relevance is None and len(self._found) >= self._terms.max_urls

    @property
    def count(self) -> int:
        """Number of candidates."""
        return len(self._found)

    def offer(self, text: str, modified: datetime | None, source: DiscoverySource) -> None:
        """Add a URL of a source, if it matches."""
        try:
            url = parse_url(text)
        except UrlInvalid:
            return
        key = cache_url(url)
        known = self._found.get(key)
        if known is not None:
            self._found[key] = _merged(known, modified, source)
            return
        if self._scope.refusal(url) or (self._patterns and not self._patterns.match(url)):
            return
        score = None if self._relevance is None else self._relevance.of(url)
        if score is not None and score < self._terms.score_threshold:
            return
        self._add(
            key,
            FoundUrl(url=url.text, score=score, last_modified=modified, sources=(source,)),
        )

    def best(self) -> list[FoundUrl]:
        """Return the pages, best first."""
        return [self._found[rank.key] for rank in sorted(self._worst, reverse=True)]

    def kept(self) -> dict[str, Any]:
        """Return the candidates as JSON."""
        return {"found": [found_item(each) for each in self.best()], "has_more": self.has_more}

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Continue from stored candidates."""
        for each in map(read_found, kept["found"]):
            self._add(cache_url(parse_url(each.url)), each)
        self.has_more = kept["has_more"]

    def _add(self, key: str, found: FoundUrl) -> None:
        self._offered += 1
        rank = _Rank(score=found.score or 0.0, earliness=-self._offered, key=key)
        if len(self._found) < self._terms.max_urls:
            heapq.heappush(self._worst, rank)
            self._found[key] = found
            return
        self.has_more = True
        worst = heapq.heappushpop(self._worst, rank)
        if worst is not rank:
            del self._found[worst.key]
            self._found[key] = found


def _merged(known: FoundUrl, modified: datetime | None, source: DiscoverySource) -> FoundUrl:
    dates: Iterable[datetime] = (each for each in (known.last_modified, modified) if each)
    sources = known.sources if source in known.sources else (*known.sources, source)
    return replace(known, last_modified=max(dates, default=None), sources=sources)

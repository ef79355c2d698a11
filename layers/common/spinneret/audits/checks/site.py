"""The site as a set of pages: of each page what other pages are compared with, and no more.

A page's facts are some 40 KB of JSON and come one at a time; what stays of them here is about two
kilobytes, most of them links as numbers.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from statistics import median
from typing import Final

from spinneret.audits.checks.reading import is_noindex, moment
from spinneret.audits.facts.models import Alternate, Failure, HtmlFacts, Kind, PageFacts
from spinneret.audits.facts.site import Outcome, SiteFacts
from spinneret.kernel.errors import UrlInvalid
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.politeness import robots

MAX_FRAGMENTS: Final = 500
"""Links to places within pages that are looked up, per page."""
TITLES_FROM: Final = 5
"""So many titled pages show whether a site has a pattern …"""
TITLES_SHARE: Final = 0.8
"""… which so many of them follow."""
_SEPARATOR: Final = re.compile(r"\s[|\-\u2013\u2014\u00b7\u2022\u00bb:]\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageNode:
    """What a page is to the others."""

    url: str
    kind: Kind
    status: int | None = None
    failure: Failure | None = None
    final_url: str = ""
    hops: int = 0
    """Redirects from `url` to `final_url`."""
    noindex: bool = False
    canonical: str | None = None
    title: str = ""
    description: str = ""
    lang: str = ""
    fingerprint: str = ""
    words: int = 0
    alternates: tuple[Alternate, ...] = ()
    modified: str = ""
    """When it says that it was last changed, as written."""
    structured: tuple[str, ...] = ()
    """Types of the things that structured data describe."""
    links: array[int]
    """Distinct pages of the site that it links to, itself left out: numbers of `Site.url_of`."""
    external: array[int]
    images: array[int]
    pagination: tuple[int, ...] = ()
    fragments: tuple[tuple[int, str], ...] = ()
    anchors: frozenset[int] = frozenset()
    """Hashes of the names that fragments may have; compared within this process only."""

    @property
    def is_indexable(self) -> bool:
        """Search engines may list it under its own address."""
        return self.kind is Kind.HTML and not self.noindex and self.canonical in (None, self.url)


class Site:
    """All pages of an audit; `add` each, then `close` with the facts of the site."""

    def __init__(self, start_url: str) -> None:
        self.start = parse_url(start_url)
        self.facts = SiteFacts(start_url=start_url, audited_at="")
        self._hosts = {self.start.host, _other_www(self.start.host)}
        self._ids: dict[str, int] = {}
        self._urls: list[str] = []
        self._nodes: dict[int, PageNode] = {}

    def add(self, page: PageFacts) -> PageNode:
        """Keep what of a page is compared with others; a URL that is there already is replaced."""
        node = self._node(page)
        self._nodes[self._id(page.url)] = node
        return node

    def close(self, facts: SiteFacts) -> None:
        """From here on pages can be asked for."""
        self.facts = facts

    def _node(self, page: PageFacts) -> PageNode:
        html = page.html or HtmlFacts()
        own = page.url
        canonicals = [each.url for each in html.canonicals if each.url]
        internal: dict[int, None] = {}
        external: dict[int, None] = {}
        fragments: dict[tuple[int, str], None] = {}
        for link in html.links:
            if link.url is None:
                continue
            if not self.is_internal(link.url):
                external[self._id(link.url)] = None
                continue
            if link.url != own:
                internal[self._id(link.url)] = None
            if link.fragment and len(fragments) < MAX_FRAGMENTS:
                fragments[self._id(link.url), link.fragment] = None
        return PageNode(
            url=own,
            kind=page.kind,
            status=page.status,
            failure=page.failure,
            final_url=page.final_url or own,
            hops=len(page.redirects),
            noindex=is_noindex(html),
            canonical=canonicals[0] if canonicals else page.header_canonical,
            title=_first(html.titles),
            description=_first(html.descriptions),
            lang=(html.lang or "").lower(),
            fingerprint=html.text.fingerprint,
            words=html.text.words,
            alternates=html.alternates,
            modified=html.modified,
            structured=tuple(dict.fromkeys(t for each in html.structured for t in each.types)),
            links=array("I", internal),
            external=array("I", external),
            images=array("I", {self._id(each.url): None for each in html.images if each.url}),
            pagination=tuple(self._id(url) for url in html.pagination),
            fragments=tuple(fragments),
            anchors=frozenset(map(hash, html.anchors)),
        )

    def _id(self, url: str) -> int:
        known = self._ids.get(url)
        if known is None:
            known = self._ids[url] = len(self._urls)
            self._urls.append(url)
        return known

    def url_of(self, number: int) -> str:
        """The URL behind a number of a node."""
        return self._urls[number]

    def urls_of(self, numbers: Iterable[int]) -> Iterator[str]:
        """As `url_of`, for several."""
        return (self._urls[number] for number in numbers)

    def is_internal(self, url: str) -> bool:
        """On the site's host, with or without `www.`."""
        authority = url.partition("://")[2].partition("/")[0].partition("?")[0]
        return (
            authority.rpartition(":")[0] in self._hosts
            if ":" in authority
            else (authority in self._hosts)
        )

    @property
    def nodes(self) -> Iterator[PageNode]:
        """Every URL that was read or should have been, in the order of `add`."""
        return iter(self._nodes.values())

    def node(self, url: str) -> PageNode | None:
        """What a URL answered; one slash more or less at its end is the same URL here.

        The crawl's frontier trims it, links have it or not.
        """
        number = self._ids.get(url)
        found = self._nodes.get(number) if number is not None else None
        if found is None:
            number = self._ids.get(url[:-1] if url.endswith("/") else f"{url}/")
            found = self._nodes.get(number) if number is not None else None
        return found

    def settled(self, url: str) -> PageNode | None:
        """As `node`, behind its redirects."""
        found = self.node(url)
        if found is not None and found.kind is Kind.REDIRECT:
            return self.node(found.final_url)
        return found

    def outcome(self, url: str) -> Outcome | None:
        """What a URL answered, page or not; None where it wasn't asked."""
        checked = self.facts.outcomes.get(url)
        if checked is not None:
            return checked
        found = self.node(url)
        if found is None or found.failure is Failure.ROBOTS:
            return None
        moved = found.final_url if found.kind is Kind.REDIRECT else ""
        return Outcome(found.status, found.failure, moved)

    @cached_property
    def pages(self) -> tuple[PageNode, ...]:
        """The pages that could be read."""
        return tuple(node for node in self.nodes if node.kind is Kind.HTML)

    @cached_property
    def start_node(self) -> PageNode | None:
        """The page that the audit began with, behind its redirects."""
        return self.settled(self.facts.start_url)

    @cached_property
    def now(self) -> datetime | None:
        """When the site was audited."""
        return moment(self.facts.audited_at)

    @cached_property
    def linked(self) -> Counter[str]:
        """How many pages link to a page or to what redirects to it."""
        counts: Counter[str] = Counter()
        for node in self.pages:
            targets = (self.settled(url) for url in self.urls_of(node.links))
            counts.update({target.url for target in targets if target is not None} - {node.url})
        return counts

    @cached_property
    def clicks(self) -> dict[str, int]:
        """Fewest links from the start page, of every page that it leads to."""
        if self.start_node is None:
            return {}
        depths = {self.start_node.url: 0}
        pending = deque([self.start_node])
        while pending:
            node = pending.popleft()
            for url in self.urls_of(node.links):
                target = self.settled(url)
                if target is not None and target.url not in depths:
                    depths[target.url] = depths[node.url] + 1
                    pending.append(target)
        return depths

    @cached_property
    def by_title(self) -> dict[str, list[str]]:
        """Pages under their titles; those that search engines don't list are left out."""
        return _grouped((node.title, node.url) for node in self.pages if node.is_indexable)

    @cached_property
    def by_description(self) -> dict[str, list[str]]:
        """As `by_title`."""
        return _grouped((node.description, node.url) for node in self.pages if node.is_indexable)

    @cached_property
    def by_text(self) -> dict[str, list[str]]:
        """As `by_title`, by the fingerprint of the text."""
        return _grouped((node.fingerprint, node.url) for node in self.pages if node.is_indexable)

    @cached_property
    def usual_words(self) -> float:
        """The median of the pages' words."""
        return median([node.words for node in self.pages] or [0])

    @cached_property
    def title_part(self) -> str | None:
        """What most titles begin or end with, behind a dash or a line: the site's name."""
        titles = [node.title for node in self.pages if node.title]
        if len(titles) < TITLES_FROM:
            return None
        for index in (-1, 0):
            ends = Counter(parts[index] for t in titles if len(parts := _SEPARATOR.split(t)) > 1)
            for part, count in ends.most_common(1):
                if count >= TITLES_SHARE * len(titles):
                    return part
        return None

    @cached_property
    def robots(self) -> robots.Robots:
        """The rules of the site's robots.txt; none where it has no such file."""
        return robots.parse(self.facts.robots.content if self.facts.robots.is_there else "")

    def is_disallowed(self, url: str, agent: str = "Googlebot") -> bool:
        """By the site's robots.txt, for URLs of its host."""
        return self.is_internal(url) and not self.robots.allows(url, agent)

    @cached_property
    def listed(self) -> dict[str, str]:
        """The URLs of all sitemaps, in the form of links, each with its date."""
        found: dict[str, str] = {}
        for sitemap in self.facts.sitemaps:
            if not sitemap.is_index:
                for entry in sitemap.entries:
                    url = _parsed(entry.url)
                    found[url.text if url else entry.url] = entry.lastmod
        return found

    @cached_property
    def listed_pages(self) -> frozenset[str]:
        """Pages that are in a sitemap."""
        nodes = (self.node(url) for url in self.listed)
        return frozenset(node.url for node in nodes if node is not None)


def _first(values: Iterable[str]) -> str:
    return next((value for value in values if value), "")


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for key, url in pairs:
        if key:
            groups.setdefault(key, []).append(url)
    return groups


def _other_www(host: str) -> str:
    return host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"


def _parsed(url: str) -> Url | None:
    try:
        return parse_url(url)
    except UrlInvalid:
        return None

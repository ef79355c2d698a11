"""Apply a crawl's plan: check the plan itself and the links of a page."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from spinneret.kernel import bounds
from spinneret.kernel.errors import UrlInvalid, ValidationFailed, field_error
from spinneret.web.exploring import limits
from spinneret.web.exploring.frontier.keys import key_of
from spinneret.web.exploring.frontier.models import Crawl, FoundLink, LinkCandidate, Plan, Strategy
from spinneret.web.exploring.globs import compile_patterns
from spinneret.web.exploring.scope import CrawlScope, ScopeRefusal
from spinneret.web.exploring.scoring import Relevance
from spinneret.web.exploring.traps import Trap, calendar_of, identity_of, trap_of
from spinneret.web.fetching.urls import Url, parse_url

BELOW_THRESHOLD: Final = "below_threshold"
NOFOLLOW: Final = "nofollow"
NOT_A_URL: Final = "not_a_url"
TOO_MANY_LINKS: Final = "too_many_links"
"""Reasons for skipping a link, in addition to ScopeRefusal and Trap."""


def batch_pages_of(strategy: Strategy) -> int:
    """Return the number of pages in a batch.

    Links are merged after a batch. So a wide one visits a small site level by level with any
    strategy. Breadth first has the same order in batches of any size.
    """
    if strategy is Strategy.BFS:
        return limits.CRAWL_BATCH_PAGES
    return limits.CRAWL_ORDERED_BATCH_PAGES


def check_plan(plan: Plan) -> None:
    """Raise ValidationFailed, whose details name every field out of range."""
    ranges = {
        "max_depth": 0 <= plan.max_depth <= bounds.CRAWL_DEPTH_MAX,
        "max_pages": 1 <= plan.max_pages <= bounds.CRAWL_PAGES_MAX,
        "batch_pages": 1 <= plan.batch_pages <= limits.CRAWL_BATCH_PAGES,
        "score_threshold": 0 <= plan.score_threshold <= 1,  # false for NaN
        "urls_per_host": plan.urls_per_host is None or plan.urls_per_host >= 1,
        "keywords": len(plan.keywords) <= bounds.CRAWL_KEYWORDS_MAX
        and all(0 < len(each) <= bounds.CRAWL_KEYWORD_MAX_CHARS for each in plan.keywords),
    }
    wrong = [field_error(field, "out of range") for field, ok in ranges.items() if not ok]
    if wrong:
        raise ValidationFailed("not a plan for a crawl", details={"fields": wrong})
    compile_patterns(plan.include, "include")
    compile_patterns(plan.exclude, "exclude")


@dataclass(frozen=True)
class LinkPolicy:
    """A crawl's plan applied to links; costly to build, so one instance serves a whole page."""

    crawl: Crawl

    @cached_property
    def scope(self) -> CrawlScope:
        """Scope around the root URLs of the crawl."""
        plan = self.crawl.plan
        roots = [parse_url(root) for root in self.crawl.roots]
        return CrawlScope.of(plan.scope, roots, plan.include, plan.exclude)

    @cached_property
    def _relevance(self) -> Relevance:
        return Relevance.to_keywords(self.crawl.plan.keywords)

    def refusal(self, url: Url) -> ScopeRefusal | Trap | None:
        """Return why the crawl doesn't follow a URL, or None if it does."""
        return self.scope.refusal(url) or trap_of(url, self.crawl.begun_at.year)

    def score(self, url: Url, text: str) -> float | None:
        """Return the score of a link, or None if the plan has no keywords."""
        return self._relevance.of(url, text) if self._relevance.terms else None

    def candidates(
        self, links: Iterable[FoundLink]
    ) -> tuple[tuple[LinkCandidate, ...], Counter[str]]:
        """Return the links to follow, each page once, and the number of skipped links by reason.

        A page keeps its first position and its best score.
        """
        found: dict[str, LinkCandidate] = {}
        skipped: Counter[str] = Counter()
        for link in links:
            candidate = self._candidate(link)
            if isinstance(candidate, str):
                skipped[candidate] += 1
            elif (former := found.get(candidate.key)) is not None:
                if better(candidate.score, former.score):
                    found[candidate.key] = replace(former, score=candidate.score)
            elif len(found) < limits.FRONTIER_LINKS_PER_PAGE:
                found[candidate.key] = candidate
            else:
                skipped[TOO_MANY_LINKS] += 1
        return tuple(found.values()), skipped

    def _candidate(self, link: FoundLink) -> LinkCandidate | str:
        try:
            url = parse_url(link.url)
        except UrlInvalid:
            return NOT_A_URL
        if refusal := self.refusal(url):
            return refusal.value
        if link.nofollow:
            return NOFOLLOW
        plan = self.crawl.plan
        score = self.score(url, link.text)
        is_choosy = plan.strategy is Strategy.BEST_FIRST
        if is_choosy and score is not None and score < plan.score_threshold:
            return BELOW_THRESHOLD
        calendar = calendar_of(url)
        return LinkCandidate(
            key=key_of(identity_of(url)),
            url=url.text,
            host=url.host,
            score=score,
            calendar=None if calendar is None else key_of(calendar.shape),
        )


def better(score: float | None, former: float | None) -> bool:
    """Whether a score is greater than a former one; None is less than every score."""
    return score is not None and (former is None or score > former)

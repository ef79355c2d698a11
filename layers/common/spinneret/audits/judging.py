"""Evaluation of an audit: page by page, then the site's facts; findings are emitted at once.

audit = Audit("https://example.com/", log.add)
for facts in pages:
    audit.page(facts)
result = audit.finish(site_facts)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from spinneret.audits.checks import catalogue as checks
from spinneret.audits.checks.models import UNKNOWN, Answer, Category, Check, CheckScope, Severity
from spinneret.audits.checks.pages import PageNode
from spinneret.audits.checks.site import Site
from spinneret.audits.comparison import Key
from spinneret.audits.facts.models import Lab, PageFacts, PageKind
from spinneret.audits.facts.site import SiteFacts
from spinneret.audits.findings import Finding, finding_of
from spinneret.audits.scoring import FORMULA_VERSION, CheckBitmap, Score, score

_COUNTED: Final = (PageKind.HTML, PageKind.FAILED)
"""Pages and failed requests for pages: the denominator of the score."""
_OF_FILES: Final = frozenset({Category.SITEMAPS, Category.AGENTS})
"""Checks of files that an audit of a single page doesn't request."""
_GONE: Final = frozenset({404, 410})
"""Status codes of a URL without a page: what was wrong with the page is wrong no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageResult:
    """One row of the list of pages."""

    url: str
    kind: PageKind
    status: int | None
    score: float | None
    """None unless it is a page."""
    title: str
    words: int
    clicks: int | None
    """Distance from the start page; None if no links lead there."""
    issues: Mapping[Severity, int]
    lab: Lab | None = None
    """Lab figures, if the page was opened in a browser."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Numbers of checked and unchecked pages, links and images."""

    pages: Mapping[PageKind, int]
    pages_not_visited: int
    """URLs of the site that pages link to or sitemaps list, but that the audit didn't visit."""
    external_links: int
    external_links_checked: int
    images: int
    images_checked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Result of an audit, without its findings."""

    start_url: str
    audited_at: str
    score: Score
    coverage: Coverage
    pages: tuple[PageResult, ...]
    issues: Mapping[Severity, int]
    unchecked: frozenset[Key] = frozenset()
    """Checks that couldn't be judged at a URL: for want of facts, or because another one failed."""
    unasked: frozenset[str] = frozenset()
    """URLs that pages or sitemaps name and whose answers are unknown."""
    catalogue_version: str = field(default_factory=checks.version)
    formula_version: str = FORMULA_VERSION


# A page without a canonical link is listed under its own URL: what is wrong with such links can't
# be judged, but its title and text can.
_ABSENCES: Final = frozenset({"canonical.missing"})


class AuditEvaluator:
    """Evaluates pages and site. Memory grows by about two kilobytes per page."""

    def __init__(
        self, start_url: str, found: Callable[[Finding], None], checks_off: Collection[str] = ()
    ) -> None:
        """Evaluate without the checks of these ids: they count as not judged."""
        self._off = frozenset(checks_off)
        self._site = Site(start_url)
        self._found = found
        self._marks: dict[str, CheckBitmap] = {}
        self._unchecked: dict[str, int] = {}
        """Checks that couldn't be judged, as bits by URL."""
        self._lab: dict[str, Lab] = {}
        self._issues: dict[str, Counter[Severity]] = {}

    def page(self, facts: PageFacts) -> None:
        """Judge a page by its own facts; ignore further pages with the same URL.

        Pages of other hosts, to which redirects may lead, are ignored.
        """
        if facts.url in self._marks or not self._site.is_internal(facts.url):
            return
        self._site.add(facts)
        if facts.lab is not None:
            self._lab[facts.url] = facts.lab
        marks = self._marks[facts.url] = CheckBitmap(is_read=facts.kind is PageKind.HTML)
        for step in _steps(CheckScope.PAGE):
            if facts.kind in step.check.kinds:
                self._judge(step, facts.url, marks, 0, facts)
            elif _is_unread(facts):
                self._leave(step, facts.url)

    def finish(self, facts: SiteFacts) -> Result:
        """Judge the site, and each page in comparison with the others."""
        site = self._site
        site.close(facts)
        of_site = CheckBitmap()
        for step in _steps(CheckScope.SITE):
            self._judge(step, facts.start_url, of_site, 0, site)
        lost = of_site.failed | of_site.blocked | of_site.hidden
        for node in site.nodes:
            marks = self._marks[node.url]
            for step in _steps(CheckScope.PAGE_IN_SITE):
                if node.kind in step.check.kinds:
                    self._judge(step, node.url, marks, lost, node, site)
                elif _is_unread(node):
                    self._leave(step, node.url)
        counted = [node for node in site.nodes if node.kind in _COUNTED]
        scored = score((self._marks[node.url] for node in counted), of_site)
        scores = dict(zip((node.url for node in counted), scored.pages, strict=True))
        return Result(
            start_url=facts.start_url,
            audited_at=facts.audited_at,
            score=scored,
            coverage=_coverage(site),
            pages=tuple(self._row(node, scores.get(node.url)) for node in site.nodes),
            issues=sum(self._issues.values(), Counter()),
            unchecked=frozenset(
                (check, url) for url, bits in self._unchecked.items() for check in _names(bits)
            ),
            unasked=site.unasked,
        )

    def _judge(
        self, step: _Step, url: str, marks: CheckBitmap, lost_elsewhere: int, *subject: object
    ) -> None:
        if self._site.facts.is_single and step.check.category in _OF_FILES:
            self._leave(step, url)
            return
        lost = marks.failed | marks.hidden | (marks.blocked & ~marks.moot) | lost_elsewhere
        missed = step.before & lost
        is_moot = bool(missed) and not missed & ~step.absences
        if step.check.id in self._off:
            hidden: Answer = None if missed else step.check.judge(*subject)
            if (missed and not is_moot) or (hidden and hidden is not UNKNOWN):
                marks.hidden |= step.bit
            self._leave(step, url)
            return
        if missed:
            marks.applicable |= step.bit
            marks.blocked |= step.bit
            if is_moot:
                marks.moot |= step.bit
            self._leave(step, url)
            return
        answer: Answer = step.check.judge(*subject)
        if answer is UNKNOWN:
            self._leave(step, url)
        if answer is None or answer is UNKNOWN:
            return
        marks.applicable |= step.bit
        if answer:
            marks.failed |= step.bit
            about = "" if step.check.scope is CheckScope.SITE else url
            self._issues.setdefault(about, Counter())[step.check.severity] += 1
            self._found(finding_of(step.check.id, url, answer))

    def _leave(self, step: _Step, url: str) -> None:
        """Remember that a check couldn't be judged."""
        self._unchecked[url] = self._unchecked.get(url, 0) | step.bit

    def _row(self, node: PageNode, rated: float | None) -> PageResult:
        return PageResult(
            url=node.url,
            kind=node.kind,
            status=node.status,
            score=rated,
            title=node.title,
            words=node.words,
            clicks=self._site.clicks.get(node.url),
            issues=self._issues.get(node.url, Counter()),
            lab=self._lab.get(node.url),
        )


def _is_unread(page: PageFacts | PageNode) -> bool:
    """Return whether this run couldn't read a page that may still exist."""
    return page.kind is PageKind.FAILED and page.status not in _GONE


def _names(bits: int) -> list[str]:
    return [name for name, place in checks.numbers().items() if bits >> place & 1]


def _coverage(site: Site) -> Coverage:
    external = {number for node in site.pages for number in node.external}
    images = {url for node in site.pages for _, url in site.images_of(node)}
    linked = {number for node in site.pages for number in node.links}
    known = {*site.urls_of(linked), *(url for url in site.listed if site.is_internal(url))}
    outcomes = site.facts.outcomes
    return Coverage(
        pages=Counter(node.kind for node in site.nodes),
        pages_not_visited=sum(1 for url in known if site.node(url) is None),
        external_links=len(external),
        external_links_checked=sum(1 for url in site.urls_of(external) if url in outcomes),
        images=len(images),
        images_checked=sum(1 for url in images if url in outcomes),
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """A check with its own bit and its prerequisites' bits."""

    check: Check[Any]
    bit: int
    before: int
    absences: int
    """Prerequisites that fail when the page lacks what the check is about."""


@cache
def _steps(scope: CheckScope) -> tuple[_Step, ...]:
    places = checks.numbers()
    return tuple(
        _Step(
            check,
            1 << places[check.id],
            sum(1 << places[name] for name in check.after),
            sum(1 << places[name] for name in _ABSENCES.intersection(check.after)),
        )
        for check in checks.by_scope(scope)
    )

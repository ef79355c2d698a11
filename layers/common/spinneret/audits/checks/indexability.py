"""Checks of whether search engines may list pages, weighted as strongly as in Lighthouse."""

from typing import Final

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import Answer, Category, Evidence, Severity
from spinneret.audits.checks.pages import PageNode
from spinneret.audits.checks.reading import moment, robots_evidence
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import HtmlFacts, PageFacts, PageKind, ReadFailure

NOINDEX_WEIGHT: Final = 345
BLOCKED_WEIGHT: Final = 60
"""Lighthouse 13.5 weights its is-crawlable 93/23 of another audit, so that it alone is 31 % of its
category. Here, too, `index.noindex` alone costs at least 31 % of a score."""

_INDEX: Final = CheckDecorators(Category.INDEXABILITY)


@_INDEX.page_in_site(
    "index.blocked",
    "robots.txt keeps search engines out",
    Severity.HIGH,
    weight=BLOCKED_WEIGHT,
    advice="Allow the page in robots.txt, or take it out of the sitemap and the navigation.",
    source=sources.ROBOTS_GOOGLE,
    after=("index.noindex",),
    kinds=(PageKind.HTML, PageKind.FAILED),
)
def blocked(page: PageNode, site: Site) -> Answer:
    """Report pages that the audit itself or Googlebot may not read."""
    if page.failure is ReadFailure.ROBOTS:
        return [Evidence("robots.txt", page.url)]
    shut = site.is_disallowed(page.url)
    return [Evidence("robots.txt", page.url, "User-agent: Googlebot")] if shut else []


@_INDEX.markup(
    "index.noindex",
    "The page asks not to be indexed",
    Severity.CRITICAL,
    weight=NOINDEX_WEIGHT,
    advice="Take noindex away where the page is meant to be found.",
    source=sources.BLOCK_INDEXING,
)
def noindex(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report `noindex` or `none`, for all crawlers or for one of three search engines."""
    return robots_evidence(html, "noindex", "none")


@_INDEX.markup(
    "index.unavailable_after",
    "The page's end in search results has passed",
    Severity.HIGH,
    advice="Set a later date, or take unavailable_after away.",
    source=sources.ROBOTS_META,
)
def unavailable_after(page: PageFacts, html: HtmlFacts) -> Answer:
    """Report dates that have passed; unreadable dates have no effect."""
    now = moment(page.fetched_at)
    given = robots_evidence(html, "unavailable_after:")
    return [
        evidence
        for evidence in given
        if now and (end := moment(evidence.value.partition(":")[2])) and end < now
    ]


@_INDEX.page_in_site(
    "index.conflict",
    "robots.txt hides the page's own noindex",
    Severity.HIGH,
    advice="Allow the page in robots.txt: only who may read it sees that it isn't to be indexed.",
    source=sources.BLOCK_INDEXING,
)
def conflict(page: PageNode, site: Site) -> Answer:
    """Report pages that the audit could read and Googlebot can't."""
    hidden = page.noindex and site.is_disallowed(page.url)
    return [Evidence("robots.txt", page.url, "User-agent: Googlebot")] if hidden else []


@_INDEX.markup(
    "index.nosnippet",
    "The page forbids snippets",
    Severity.LOW,
    advice="Allow a snippet: without one, results show a bare title.",
    source=sources.ROBOTS_META,
)
def nosnippet(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report `nosnippet` or `max-snippet:0`."""
    return robots_evidence(html, "nosnippet", "max-snippet:0")


@_INDEX.markup(
    "index.noimageindex",
    "The page keeps its images out of search",
    Severity.LOW,
    advice="Take noimageindex away where the images are meant to be found.",
    source=sources.ROBOTS_META,
)
def noimageindex(_: PageFacts, html: HtmlFacts) -> Answer:
    """Report `noimageindex`, for all crawlers or for one of three search engines."""
    return robots_evidence(html, "noimageindex")

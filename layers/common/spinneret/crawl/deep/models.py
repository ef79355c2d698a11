"""Requests and responses of deep crawls."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from spinneret.crawl.models import CrawlOptions, ErrorView, UrlText
from spinneret.jobs.models import JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.views import ListOf
from spinneret.web.exploring.frontier.models import PageState, Strategy
from spinneret.web.exploring.scope import ScopeKind

Pattern = Annotated[str, StringConstraints(min_length=1, max_length=bounds.URL_PATTERN_MAX_CHARS)]
Patterns = Annotated[tuple[Pattern, ...], Field(max_length=bounds.URL_PATTERNS_MAX, strict=False)]
Keyword = Annotated[str, StringConstraints(min_length=1, max_length=bounds.CRAWL_KEYWORD_MAX_CHARS)]


class DeepCrawlRequest(CrawlOptions):
    """Body of `POST /api/v1/crawl/deep`; its webhook is notified at the end of the whole crawl.

    The crawl doesn't follow links with `rel=nofollow`, nor any link of a page whose robots element
    or X-Robots-Tag contains `nofollow`, unless the config ignores robots.txt.
    """

    url: UrlText
    """URL of the first page."""
    strategy: Annotated[Strategy, Field(strict=False)] = Strategy.BFS
    """Order in which pages are crawled."""
    max_depth: Annotated[int, Field(ge=0, le=bounds.CRAWL_DEPTH_MAX)] = 2
    """Maximum number of links between the URL and a page."""
    max_pages: Annotated[int, Field(ge=1, le=bounds.CRAWL_PAGES_MAX)] = 100
    """Maximum number of successfully fetched pages; the stage may allow fewer."""
    keywords: Annotated[
        tuple[Keyword, ...], Field(max_length=bounds.CRAWL_KEYWORDS_MAX, strict=False)
    ] = ()
    """Keywords by which links are scored."""
    score_threshold: Annotated[float, Field(ge=0, le=1)] = 0.4
    """Minimum score of followed links, used by `best_first` only."""
    scope: Annotated[ScopeKind, Field(strict=False)] = ScopeKind.HOST
    """Links to follow, by their host."""
    include: Patterns = ()
    """Patterns of URLs to follow: `*` matches within a segment, `**` across segments."""
    exclude: Patterns = ()
    """Patterns of URLs that aren't crawled; they win over `include`."""


class DeepCrawlView(BaseModel):
    """A deep crawl, as shown to its tenant."""

    job_id: str
    root_url: str
    """URL of the first page."""
    status: JobStatus
    strategy: Strategy
    """Order in which pages are crawled."""
    progress: int
    """Crawled percentage of `max_pages`, until the end."""
    step: str | None
    run: int
    max_depth: int
    max_pages: int
    """Maximum number of pages that are crawled."""
    keywords: list[str]
    """Words by which pages are scored."""
    score_threshold: float
    """Score below which best-first doesn't follow links, 0 to 1."""
    scope: ScopeKind
    """Links that are followed, by their host."""
    include: list[str]
    """Patterns of URLs that are crawled; without any, all of the scope."""
    exclude: list[str]
    """Patterns of URLs that aren't crawled."""
    webhook_url: str | None
    """URL that is notified of the end, without secrets."""
    pages_discovered: int
    """Number of URLs found so far."""
    pages_crawled: int
    """Number of pages crawled so far."""
    pages_failed: int
    """Number of pages that failed so far."""
    current_depth: int
    """Greatest depth of a page crawled so far."""
    created_at: str
    started_at: str | None
    finished_at: str | None
    end_reason: str | None
    """`exhausted`, `budget` or `expired`."""
    error: ErrorView | None
    """Error that ended the crawl; null without one."""


class CrawledPageView(BaseModel):
    """One URL of a deep crawl."""

    url: str
    depth: int
    """Number of links from the root URL."""
    score: float | None
    """Relevance to the keywords, 0 to 1; null without keywords."""
    status: PageState
    """State of the page in the frontier."""
    discovered_at: str
    """Time at which a link to the page was found (RFC 3339, UTC)."""
    parent_url: str | None
    final_url: str | None
    status_code: int | None
    fetch_ms: int | None
    """Duration of the request, in milliseconds; null before it and after a failure."""
    document_id: str | None
    """Id of the page's document; null without one."""
    parts_url: str | None
    """URL that serves metadata, links and blocks as JSON for some minutes."""
    error: str | None
    """Reason of the failure, or of the last one while the page waits for another try."""
    error_type: str | None


class CrawledPageList(ListOf[CrawledPageView]):
    """One page of a deep crawl's URLs."""

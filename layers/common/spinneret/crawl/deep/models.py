"""Requests and answers of deep crawls."""

from __future__ import annotations

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
    """Body of `POST /api/v1/crawl/deep`; its webhook is notified of the end of the whole crawl.

    Links with `rel=nofollow` aren't followed, nor any of a page whose robots element or
    X-Robots-Tag says `nofollow`, unless the config doesn't respect robots.txt.
    """

    url: UrlText
    strategy: Annotated[Strategy, Field(strict=False)] = Strategy.BFS
    max_depth: Annotated[int, Field(ge=0, le=bounds.CRAWL_DEPTH_MAX)] = 2
    """Links between the URL and a page."""
    max_pages: Annotated[int, Field(ge=1, le=bounds.CRAWL_PAGES_MAX)] = 100
    """Pages fetched with success; the stage may allow fewer."""
    keywords: Annotated[
        tuple[Keyword, ...], Field(max_length=bounds.CRAWL_KEYWORDS_MAX, strict=False)
    ] = ()
    """What links are scored by."""
    score_threshold: Annotated[float, Field(ge=0, le=1)] = 0.4
    """Links below it aren't followed, by `best_first` alone."""
    scope: Annotated[ScopeKind, Field(strict=False)] = ScopeKind.HOST
    include: Patterns = ()
    """Follow only URLs that match one of these: `*` in a segment, `**` over several."""
    exclude: Patterns = ()


class DeepCrawlView(BaseModel):
    """A deep crawl as its tenant sees it."""

    job_id: str
    root_url: str
    status: JobStatus
    strategy: Strategy
    progress: int
    """Per cent of `max_pages` that were crawled, until the end."""
    step: str | None
    run: int
    max_depth: int
    max_pages: int
    pages_discovered: int
    pages_crawled: int
    pages_failed: int
    current_depth: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    end_reason: str | None
    """`exhausted`, `budget` or `expired`."""
    error: ErrorView | None


class CrawledPageView(BaseModel):
    """One URL of a deep crawl."""

    url: str
    depth: int
    score: float | None
    status: PageState
    discovered_at: str
    parent_url: str | None
    final_url: str | None
    status_code: int | None
    document_id: str | None
    parts_url: str | None
    """Serves its metadata, links and blocks as JSON for some minutes."""
    error: str | None
    error_type: str | None


class CrawledPageList(ListOf[CrawledPageView]):
    """One page of the list of a crawl's URLs."""

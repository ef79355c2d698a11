"""Requests, responses and payloads of crawling."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from spinneret.content.extraction.api_models import ExtractionView
from spinneret.content.tags.api_models import TagName
from spinneret.crawl import limits
from spinneret.jobs.api_models import CountsView
from spinneret.jobs.models import JobStatus, Priority
from spinneret.kernel import bounds

RowId = Annotated[str, StringConstraints(min_length=1, max_length=80)]
UrlText = Annotated[str, StringConstraints(min_length=1, max_length=bounds.URL_MAX_CHARS)]


class PageOptions(BaseModel):
    """Options of a crawl of one page."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    config_id: RowId | None = None
    """How pages are fetched, read and cut; without it the tenant's default config, if it has one.

    One whose `max_depth` isn't 0 makes a crawl of one URL a deep crawl, and is refused for several.
    Crawls with another config, or with a changed one, are other crawls.
    """
    collection_id: RowId | None = None
    """Where the documents are kept; without it they stay where they are."""
    tags: Annotated[
        tuple[TagName, ...] | None, Field(max_length=limits.CRAWL_TAGS_MAX, strict=False)
    ] = None
    """Names of tags that the documents get besides those that they have; new ones are made."""
    priority: Annotated[Priority, Field(strict=False)] = Priority.NORMAL
    force: bool = False
    """Crawl again even if the same crawl is under way or has a result of the last 24 hours."""
    proxy_config_id: RowId | None = None
    """Fetch the pages by way of these proxies; directly while the config is inactive or empty.
    Comes before the proxies of the crawl's config.

    robots.txt is always read directly: what it says holds for all tenants.
    """


class CrawlOptions(PageOptions):
    """Options of a submission: how to crawl its pages, and which webhook to notify."""

    webhook_url: UrlText | None = None
    """Notified of the end of these crawls, signed with the tenant's default secret.

    A crawl with another URL, with other headers for it, or without one, is another crawl.
    """
    webhook_headers: Annotated[dict[str, str], Field(repr=False)] = {}
    """Sent with the notifications to `webhook_url`; never shown again."""


class CrawlRequest(CrawlOptions):
    """Body of `POST /api/v1/crawl`: one `url`, or `urls` with an outcome each."""

    url: UrlText | None = None
    urls: Annotated[
        tuple[UrlText, ...] | None,
        Field(min_length=1, max_length=limits.URLS_PER_CRAWL, strict=False),
    ] = None

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.url is None) == (self.urls is None):
            raise ValueError("give either url or urls")
        return self


class BatchRequest(CrawlOptions):
    """Body of `POST /api/v1/crawl/batch`: its webhook is notified once, of the end of them all."""

    urls: Annotated[
        tuple[UrlText, ...],
        Field(min_length=1, max_length=limits.URLS_PER_BATCH, strict=False),
    ]


class ErrorView(BaseModel):
    """Why something was refused or failed."""

    error: str
    code: str
    details: dict[str, Any] = {}


class Submission(BaseModel):
    """Answer to one URL."""

    job_id: str
    status: JobStatus
    message: str
    cached: bool = False
    """The job had its result already."""


class UrlOutcome(BaseModel):
    """One URL of a submission of several: a job, or why there is none."""

    url: str
    job_id: str | None = None
    status: JobStatus | None = None
    message: str
    cached: bool = False
    error: ErrorView | None = None


class BatchSubmission(BaseModel):
    """Answer to several URLs, in their order."""

    batch_id: str | None
    """For the list of jobs, and of a batch its own job's id; null when every URL of
    `POST /api/v1/crawl` was already under way."""
    jobs: list[UrlOutcome]
    total_submitted: int
    failed_count: int


class PageMetadata(BaseModel):
    """What a page says of itself."""

    author: str | None
    publish_date: str | None
    description: str | None
    keywords: list[str]
    og_image: str | None
    canonical_url: str | None


class PageLink(BaseModel):
    """A link of a page, as its first occurrence has it; the text is the first that shows words."""

    url: str
    text: str
    rel: list[str]
    nofollow: bool


class PageBlock(BaseModel):
    """A part of a structured page: `heading`, `prose`, `list`, `table` or `code`, in markdown."""

    type: str
    text: str


class CrawlView(BaseModel):
    """A crawl as its tenant sees it.

    What is found of a page is null until the crawl is completed. What is too large to be shown is
    null too, and there is a URL for it, which serves it for some minutes.
    """

    job_id: str
    url: str
    normalized_url: str
    """As pages are told apart: with sorted parameters, after redirects once it is known."""
    domain: str | None
    status: JobStatus
    priority: Priority
    progress: int
    step: str | None
    run: int
    attempts: int
    max_attempts: int
    redrives: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    duration_ms: int | None
    """From the first claim of this run to its end, waits included."""
    crawl_config_id: str | None
    crawl_source_id: str | None
    collection_id: str | None
    document_id: str | None
    status_code: int | None
    content_type: str | None
    title: str | None
    extraction: ExtractionView | None
    crawled_at: str | None
    markdown: str | None
    text: str | None
    """The same without marks and addresses."""
    markdown_url: str | None
    metadata: PageMetadata | None
    links: list[PageLink] | None
    blocks: list[PageBlock] | None
    """Of a page that was read by the strategy `structured`."""
    parts_url: str | None
    """For metadata, links and blocks."""
    result: dict[str, Any] | None
    error: ErrorView | None
    error_type: str | None


class BatchView(CountsView):
    """A batch as its tenant sees it; URLs that other jobs crawl aren't counted."""

    job_id: str
    status: JobStatus
    priority: Priority
    progress: int
    """Per cent of its crawls that have ended."""
    run: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    error: ErrorView | None

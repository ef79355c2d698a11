"""Requests, responses and payloads of crawling."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from spinneret.content.extraction.api_models import ExtractionView
from spinneret.content.tags.api_models import TagName
from spinneret.crawl import limits
from spinneret.crawl.configs.api_models import Selector, WaitInPage
from spinneret.crawl.configs.rendering import RenderMode
from spinneret.jobs.api_models import CountsView, WaitSeconds
from spinneret.jobs.models import JobStatus, Priority
from spinneret.kernel import bounds

RowId = Annotated[str, StringConstraints(min_length=1, max_length=80)]
UrlText = Annotated[str, StringConstraints(min_length=1, max_length=bounds.URL_MAX_CHARS)]


class PageOptions(BaseModel):
    """Options of a crawl of one page."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    config_id: RowId | None = None
    """Crawl config; by default the tenant's default config, if there is one.

    A config whose `max_depth` isn't 0 makes the crawl of one URL a deep crawl; several URLs with it
    are rejected. Crawls with different or changed configs aren't identical.
    """
    collection_id: RowId | None = None
    """Collection of the documents; if omitted, existing documents stay where they are."""
    tags: Annotated[
        tuple[TagName, ...] | None, Field(max_length=limits.CRAWL_TAGS_MAX, strict=False)
    ] = None
    """Names of tags to add to the documents; missing tags are created.

    If an identical crawl of one page is under way or has a fresh result, its document gets them,
    too. Deep crawls with different tags aren't identical.
    """
    priority: Annotated[Priority, Field(strict=False)] = Priority.NORMAL
    """Lane of the job; it doesn't change the result."""
    force: bool = False
    """Crawl again even if an identical crawl is under way or has a result of the last 24 hours."""
    proxy_config_id: RowId | None = None
    """Proxies for the pages, in preference to the proxies of the crawl's config.

    An inactive or empty config fetches directly. robots.txt is always fetched directly, because it
    applies to all tenants.
    """


class CrawlOptions(PageOptions):
    """Options of a submission: how to crawl its pages, and which webhook to notify."""

    webhook_url: UrlText | None = None
    """URL to notify of the end of these crawls, signed with the tenant's default secret.

    Crawls with different webhook URLs or headers aren't identical.
    """
    webhook_headers: Annotated[dict[str, str], Field(repr=False)] = {}
    """Headers of the notifications to `webhook_url`; never returned."""


class CrawlRequest(CrawlOptions):
    """Body of `POST /api/v1/crawl`: one `url`, or `urls` with an outcome each."""

    url: UrlText | None = None
    """URL of the page to crawl."""
    urls: Annotated[
        tuple[UrlText, ...] | None,
        Field(min_length=1, max_length=limits.URLS_PER_CRAWL, strict=False),
    ] = None
    """URLs of the pages to crawl, each as one job."""
    render: RenderMode | None = None
    """Whether to open pages in a browser with their scripts; by default as the config says. `auto`
    opens a page that has scripts and next to no text without them.

    A browser uses no proxies and sends no headers of a config. Pages rendered otherwise are other
    crawls.
    """
    wait_for: Selector | None = None
    """CSS selector of an element that a rendered page must have; without it in time, the crawl
    fails."""
    wait_seconds: WaitInPage = 0.0
    """Seconds to wait after a rendered page is there."""
    wait: WaitSeconds = 0
    """Seconds to wait for the result of one `url`; the response is 200 with it, or 202 after that.

    A repeated request under an Idempotency-Key may wait for another time.
    """

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.url is None) == (self.urls is None):
            raise ValueError("give either url or urls")
        if self.wait and self.url is None:
            raise ValueError("only a crawl of one url can be waited for")
        if not self.render and (self.wait_for is not None or self.wait_seconds):
            raise ValueError("wait_for and wait_seconds require render")
        return self


class BatchRequest(CrawlOptions):
    """Body of `POST /api/v1/crawl/batch`.

    Its webhook is notified once, at the end of all crawls.
    """

    urls: Annotated[
        tuple[UrlText, ...],
        Field(min_length=1, max_length=limits.URLS_PER_BATCH, strict=False),
    ]
    """URLs to crawl, each as one job."""


class ErrorView(BaseModel):
    """Reason for a rejection or failure."""

    error: str
    code: str
    details: dict[str, Any] = {}


class Submission(BaseModel):
    """Response to one URL."""

    job_id: str
    status: JobStatus
    message: str
    cached: bool = False
    """Whether the job already had its result."""


class UrlOutcome(BaseModel):
    """Outcome of one of several URLs: its job or its error."""

    url: str
    """URL as requested."""
    job_id: str | None = None
    status: JobStatus | None = None
    message: str
    cached: bool = False
    """Whether the job already had its result."""
    error: ErrorView | None = None
    """Reason for the rejection; null if the URL was accepted."""


class BatchSubmission(BaseModel):
    """Response to several URLs, in their order."""

    batch_id: str | None
    """Filter for the list of jobs; for a batch also the id of its job. null if all URLs of `POST
    /api/v1/crawl` were already under way."""
    jobs: list[UrlOutcome]
    """Outcomes in the order of the URLs."""
    total_submitted: int
    failed_count: int


class PageMetadata(BaseModel):
    """Metadata declared by a page."""

    author: str | None
    """Author; null if the page names none."""
    publish_date: str | None
    """Date of publication; null if the page states none."""
    description: str | None
    """Description; null if the page states none."""
    keywords: list[str]
    """Keywords that the page states."""
    og_image: str | None
    """URL of the preview image (Open Graph); null without one."""
    canonical_url: str | None
    """URL that the page calls canonical; null if it names none."""


class PageLink(BaseModel):
    """A link of a page, from its first occurrence; `text` is from the first one with words."""

    url: str
    """Absolute URL of the link's target."""
    text: str
    """Text of the link."""
    rel: list[str]
    """Values of the attribute `rel`."""
    nofollow: bool
    """Whether the page asks crawlers not to follow the link."""


class PageBlock(BaseModel):
    """A block of a structured page in Markdown: `heading`, `prose`, `list`, `table` or `code`."""

    type: str
    """Kind of the block, such as a heading or a table."""
    text: str
    """Text of the block."""


class CrawlView(BaseModel):
    """A crawl, as shown to its tenant.

    Fields about the page are null until the crawl is completed. A value that is too large for the
    response is null, and a URL serves it for some minutes.
    """

    job_id: str
    url: str
    normalized_url: str
    """URL that identifies the page: with sorted parameters, and after redirects once they are
    known."""
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
    """Time from the first claim of this run to its end, including waits."""
    crawl_config_id: str | None
    crawl_source_id: str | None
    """Id of the source whose run submitted the crawl; null for others."""
    collection_id: str | None
    document_id: str | None
    """Id of the page's document; null before it is stored."""
    status_code: int | None
    content_type: str | None
    title: str | None
    """Title of the page; null without one."""
    extraction: ExtractionView | None
    crawled_at: str | None
    """Time of the fetch (RFC 3339, UTC); null before it."""
    markdown: str | None
    """Content of the page as Markdown; null if `markdown_url` has it, or before the end."""
    text: str | None
    """The text of `markdown` without markup and URLs."""
    markdown_url: str | None
    """URL that returns a long content for a limited time; null for a short one."""
    metadata: PageMetadata | None
    """Statements of the page about itself; null before the end."""
    links: list[PageLink] | None
    """Links of the page; null before the end."""
    blocks: list[PageBlock] | None
    """Blocks of the page, if the strategy is `structured`."""
    parts_url: str | None
    """URL of metadata, links and blocks."""
    webhook_url: str | None
    """URL that is notified of the end, without secrets; null for a child of a batch."""
    result: dict[str, Any] | None
    """Result of the job as stored; null before the end."""
    error: ErrorView | None
    """Reason of the failure, or of the last one while the crawl waits for another try."""
    error_type: str | None


class BatchView(CountsView):
    """A batch, as shown to its tenant.

    URLs that other jobs crawl aren't counted.
    """

    job_id: str
    status: JobStatus
    priority: Priority
    progress: int
    """Percentage of its crawls that have ended."""
    webhook_url: str | None
    """URL that is notified once, at the end of all crawls, without secrets."""
    run: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    error: ErrorView | None
    """Error that ended the batch; null without one."""

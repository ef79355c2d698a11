"""Requests and responses of discoveries."""

from typing import Annotated

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints

from spinneret.discovery import limits
from spinneret.discovery.models import DiscoverySource, FoundPage, read_terms
from spinneret.jobs.models import Job, JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.errors import DomainError
from spinneret.kernel.paging import cursor_of
from spinneret.kernel.views import Timestamp, View

UrlText = Annotated[str, StringConstraints(min_length=1, max_length=bounds.URL_MAX_CHARS)]
QueryText = Annotated[str, StringConstraints(min_length=1, max_length=bounds.QUERY_MAX_CHARS)]


class DiscoverRequest(BaseModel):
    """Body of `POST /api/v1/discover`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    domain: Annotated[UrlText, Field(validation_alias=AliasChoices("domain", "url"))]
    """A host with an optional port, tried with https and then http; or `https://host`. `url` is an
    alias."""
    sources: Annotated[
        tuple[Annotated[DiscoverySource, Field(strict=False)], ...],
        Field(min_length=1, max_length=2, strict=False),
    ] = (DiscoverySource.SITEMAP,)
    """Sources to search; if one fails, the other's results are returned."""
    pattern: Annotated[str, StringConstraints(min_length=1)] | None = None
    """Pattern of URLs: `*` matches any characters except `/`, `**` any characters, `?` one
    character."""
    max_urls: Annotated[int, Field(ge=1, le=limits.DISCOVERY_URLS_MAX)] = limits.DISCOVERY_URLS_MAX
    """Maximum number of URLs in the result."""
    score_query: QueryText | None = None
    """Query by which the best pages are returned; without it, the first ones."""
    score_threshold: Annotated[float, Field(ge=0, le=1, strict=False)] = 0.3
    """Minimum score of a returned page; unused without `score_query`."""


class DiscoverySubmission(BaseModel):
    """Response to a submission."""

    job_id: str
    status: JobStatus
    message: str


class ScoreRequest(BaseModel):
    """Body of `POST /api/v1/discover/score`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    urls: Annotated[
        tuple[UrlText, ...],
        Field(min_length=1, max_length=limits.DISCOVERY_URLS_MAX, strict=False),
    ]
    """URLs to score; no page is fetched."""
    query: QueryText
    """Query that the pages should answer."""


class ScoreView(BaseModel):
    """Relevance of a page to the query, judged by its URL."""

    url: str
    """URL as requested."""
    score: float | None
    """0 to 1; null for an invalid URL."""
    error: str | None = None
    """Fault of the URL; null for a valid one."""


class ScoreList(BaseModel):
    """Scores in the order of the URLs."""

    scores: list[ScoreView]
    """Scores in the order of the URLs."""


class FoundView(View):
    """A discovered page."""

    url: str
    """URL of the page."""
    score: float | None
    """null without a query."""
    last_modified: Timestamp | None
    """Date in the sitemap, or of Common Crawl's last fetch."""
    sources: list[DiscoverySource]
    """Sources that name the page."""


class DiscoveryError(BaseModel):
    """Reason why a discovery failed."""

    error: str
    code: str


class DiscoveryView(BaseModel):
    """A discovery and a page of its results, best first."""

    job_id: str
    domain: str
    """Host that was searched, as requested."""
    sources: list[DiscoverySource]
    """Sources that were searched."""
    pattern: str | None
    """Pattern of the returned URLs; null for all."""
    max_urls: int
    """Maximum number of URLs in the result."""
    score_query: str | None
    """Query by which the best pages are returned; null without one."""
    score_threshold: float
    """Minimum score of a returned page, 0 to 1."""
    status: JobStatus
    progress: int
    step: str | None
    urls_found: int
    """Number of URLs in the result, over all of its pages."""
    has_more_urls: bool
    """Whether more pages exist than `max_urls` and the limits of a discovery allow."""
    files_read: int
    """Number of sitemap files that were read."""
    files_failed: int
    """Number of sitemap files that couldn't be read."""
    notes: list[str]
    """Problems that didn't fail the discovery: each sitemap that failed or was read only in part,
    by its URL, and each source that failed."""
    result: list[FoundView]
    """Discovered pages of this page of the result."""
    next_cursor: str | None
    has_more: bool
    created_at: Timestamp
    finished_at: Timestamp | None
    error: DiscoveryError | None
    """Error that ended the discovery; null without one."""


def discovery_view(job: Job, page: FoundPage) -> DiscoveryView:
    """Return the view of a discovery."""
    found, failure = job.result or {}, job.last_error
    error = None if failure is None else {"error": failure.message, "code": failure.code}
    return DiscoveryView.model_validate(
        {
            **vars(job),  # fields of the same name are the job's and its terms'
            **vars(read_terms(job.payload)),
            "job_id": job.id,
            "urls_found": found.get("urls_found", 0),
            "has_more_urls": found.get("has_more", False),
            "files_read": found.get("files_read", 0),
            "files_failed": found.get("files_failed", 0),
            "notes": found.get("notes", []),
            "result": [FoundView.of(each) for each in page.urls],
            "next_cursor": cursor_of(None if page.after is None else str(page.after)),
            "has_more": page.after is not None,
            "error": error,
        }
    )


def score_view(url: str, score: float | DomainError) -> ScoreView:
    """Return the view of a score or of its error."""
    if isinstance(score, DomainError):
        return ScoreView(url=url, score=None, error=score.message)
    return ScoreView(url=url, score=score)

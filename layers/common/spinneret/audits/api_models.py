"""Requests and responses of audits."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from spinneret.audits import limits
from spinneret.audits.models import FormatName
from spinneret.audits.request_headers import names_in
from spinneret.jobs.api_models import job_view
from spinneret.jobs.models import Job, JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.views import ListOf

UrlText = Annotated[str, StringConstraints(min_length=1, max_length=bounds.URL_MAX_CHARS)]
RecipeName = Literal["hello", "seo"]
CHOICES: Final = ("urls", "include", "exclude", "checks_off", "render")
"""Options that a job's payload has in addition to its sample, if they were given."""


Pattern = Annotated[str, StringConstraints(min_length=1, max_length=bounds.URL_PATTERN_MAX_CHARS)]
Patterns = Annotated[tuple[Pattern, ...], Field(max_length=bounds.URL_PATTERNS_MAX, strict=False)]
CheckName = Annotated[str, StringConstraints(min_length=1, max_length=limits.CHECK_NAME_MAX_CHARS)]
CheckNames = Annotated[tuple[CheckName, ...], Field(max_length=limits.CHECKS_OFF_MAX, strict=False)]


UrlTexts = Annotated[tuple[UrlText, ...], Field(max_length=limits.URLS_MAX, strict=False)]
Headers = dict[str, str]
Cookie = Annotated[str, StringConstraints(pattern=r"^[^=;\s]+=[^;\s]*$", max_length=1000)]
SECRET: Final = Field(repr=False)
Score = Annotated[float, Field(ge=0, le=100, strict=False)]


class AuditOptions(BaseModel):
    """Sample and checks of the recipe `seo`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    urls: UrlTexts = ()
    """Pages of one host to audit instead of a start page; no links are followed."""

    max_pages: Annotated[int, Field(ge=1, le=limits.PAGES_MAX)] | None = None
    """The default is 100."""
    max_external_links: Annotated[int, Field(ge=0, le=limits.EXTERNAL_LINKS_MAX)] | None = None
    """The default is 500; further links are reported as not checked."""
    max_images: Annotated[int, Field(ge=0, le=limits.IMAGES_MAX)] | None = None
    """The default is 100."""
    include: Patterns = ()
    """Patterns of URLs to audit: `*` matches within a segment, `**` across segments."""
    exclude: Patterns = ()
    """Patterns of URLs to leave out; they win over `include`."""
    checks_off: CheckNames = ()
    """Ids of checks that aren't judged, such as `social.og`; they cost nothing."""

    render: bool = False
    """Whether pages are opened in a browser, so that facts are those after JavaScript, and lab
    figures are taken. A browser sends no `headers` and no cookie."""

    @property
    def given(self) -> dict[str, Any]:
        """Return the options that the request sets."""
        found = self.model_dump(mode="json", exclude_none=True)
        return {name: value for name, value in found.items() if value != [] and value is not False}


class AuditRequest(BaseModel):
    """Body of `POST /audits`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: UrlText | None = None
    """Start page of the audit, whose host is the site; omitted with `options.urls`."""
    recipe: RecipeName = "seo"
    """`hello` audits only this page, as a smoke test."""
    options: AuditOptions = AuditOptions()
    """Limits of the sample; null fields take the recipe's own."""
    mode: Literal["debug"] | None = None
    """`debug` skips the minimum delay between two audits of a host."""
    fail_under: Score | None = None
    """Score below which the audit's `passed` is false."""
    headers: Annotated[Headers, SECRET] = {}
    """Request headers, such as `Authorization`, for the origin of the start page only. They are
    stored encrypted and never shown."""
    cookie: Annotated[Cookie | None, SECRET] = None
    """One cookie, `name=value`, sent and stored like `headers`."""


class AuditSubmission(BaseModel):
    """Response to `POST /audits`."""

    audit_id: str
    """Id of the audit, which is also its job's."""
    status: JobStatus
    recipe: RecipeName
    recipe_version: int
    message: str


class AuditView(BaseModel):
    """An audit, as shown to its tenant; scores and counts are null until it has a result."""

    audit_id: str
    """Id of the audit, which is also its job's."""
    url: str
    """URL of the audited site."""
    recipe: RecipeName
    recipe_version: int
    mode: str | None
    """`debug` if the minimum delay between two audits of a host was skipped; else null."""
    options: dict[str, Any]
    """Limits of the sample; patterns and checks, if the request names any."""
    status: JobStatus
    progress: int
    step: str | None
    waiting_for: str | None
    run: int
    attempts: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    duration_ms: int | None
    score: float | None
    """0 to 100, by the formula in docs/audits.md."""
    grade: str | None
    """Grade of the total score, one of five letters from `A`; null before the end."""
    categories: dict[str, float | None] | None
    """Scores by category, 0 to 100 each; null before the end."""
    fail_under: float | None
    """Score below which the audit doesn't pass; null if the request names none."""
    headers: list[str]
    """Names of the request headers that the audit sends; their values are never shown."""
    passed: bool | None
    """Whether the score reaches `fail_under`; null without either of them."""
    score_change: float | None
    """Change since the previous audit of the same site and recipe."""
    result: dict[str, Any] | None
    """Figures of the finished audit; null before the end."""
    error: dict[str, Any] | None
    """Error that ended the audit: `error`, `code` and `details`; null without one."""
    error_summary: str | None
    error_type: str | None


class AuditList(ListOf[AuditView]):
    """A page of audits, newest first."""


class PreviewRequest(BaseModel):
    """Body of `POST /audits/preview`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: UrlText
    """URL of the site."""


class PreviewView(BaseModel):
    """Estimated work of an audit of the site."""

    url: str
    """URL of the request."""
    start_url: str
    """URL of the start page after redirects."""
    status_code: int
    """HTTP status of the start page."""
    robots_status: int | None
    """HTTP status of robots.txt; null if it can't be reached."""
    is_allowed: bool
    """Whether robots.txt allows fetching the start page."""
    crawl_delay: float
    """Seconds between two requests that robots.txt demands; 0 if it demands none."""
    sitemap_url: str | None
    """URL of the sitemap; null without one."""
    estimated_pages: int
    """Estimated number of the site's pages."""
    estimated_by: Literal["sitemap", "sitemap index", "links of the start page"]
    """Basis of the estimate."""
    is_lower_bound: bool
    """Whether the site may have more pages, because the source of the estimate is incomplete."""
    requests: int
    """Number of requests that this preview sent."""


class ReportView(BaseModel):
    """Download URL of a report, valid for one hour at most."""

    format: FormatName
    """Format of the report."""
    media_type: str
    """Media type of the file."""
    url: str
    """URL that returns the file for a limited time."""
    expires_in: int
    """Lifetime of the URL in seconds."""


# ---------------------------------------------------------------- Views


def audit_view(job: Job) -> AuditView:
    """Return the view of an audit's job."""
    view, payload = job_view(job), job.payload
    result = view.result or {}
    score, fail_under = result.get("score"), payload.get("fail_under")
    return AuditView.model_validate(
        {
            **vars(view),  # fields of the same name are the job's
            "audit_id": job.id,
            "url": payload["url"],
            "recipe": payload["recipe"],
            "recipe_version": payload["version"],
            "mode": payload.get("mode"),
            "options": payload["sample"]
            | {each: payload[each] for each in CHOICES if each in payload},
            "score": score,
            "grade": result.get("grade"),
            "categories": result.get("categories"),
            "fail_under": fail_under,
            "headers": names_in(payload),
            "passed": None if score is None or fail_under is None else score >= fail_under,
            "score_change": result.get("score_change"),
        }
    )

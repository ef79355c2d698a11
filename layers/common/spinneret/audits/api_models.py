"""Requests and answers about audits."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from spinneret.audits import limits
from spinneret.audits.checks.catalogue import catalogue
from spinneret.audits.checks.models import Check
from spinneret.audits.comparison import Comparison, Key
from spinneret.audits.issues import LoggedIssue
from spinneret.audits.models import Artifact, ArtifactPage
from spinneret.jobs.api_models import job_view
from spinneret.jobs.models import Job, JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.clock import optional_stamp, stamp
from spinneret.kernel.paging import cursor_of

UrlText = Annotated[str, StringConstraints(min_length=1, max_length=bounds.URL_MAX_CHARS)]
RecipeName = Literal["hello", "seo"]
FormatName = Literal["json", "csv", "html", "md", "junit", "sarif"]
StateName = Literal["new", "fixed", "still", "not_seen"]


class AuditOptions(BaseModel):
    """How large a sample the recipe `seo` takes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    max_pages: Annotated[int, Field(ge=1, le=limits.PAGES_MAX)] | None = None
    """100 without it."""
    max_external_links: Annotated[int, Field(ge=0, le=limits.EXTERNAL_LINKS_MAX)] | None = None
    """500 without it; those beyond are counted as not checked."""
    max_images: Annotated[int, Field(ge=0, le=limits.IMAGES_MAX)] | None = None
    """100 without it."""

    @property
    def given(self) -> dict[str, int]:
        """Those that the request names."""
        return self.model_dump(exclude_none=True)


class AuditRequest(BaseModel):
    """Body of `POST /audits`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: UrlText
    """Where the audit begins; its host is the site."""
    recipe: RecipeName = "seo"
    """`hello` audits this one page: a smoke test."""
    options: AuditOptions = AuditOptions()
    mode: Literal["debug"] | None = None
    """`debug` doesn't wait for the rest that a host gets between two audits."""


class AuditSubmission(BaseModel):
    """Answer to `POST /audits`."""

    audit_id: str
    status: JobStatus
    recipe: RecipeName
    recipe_version: int
    message: str


class AuditView(BaseModel):
    """An audit as its tenant sees it; scores and counts once it has a result."""

    audit_id: str
    url: str
    recipe: RecipeName
    recipe_version: int
    mode: str | None
    options: dict[str, int]
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
    """0 to 100; docs/audits.md has the formula."""
    grade: str | None
    categories: dict[str, float | None] | None
    score_change: float | None
    """Since the audit before of the same site by the same recipe."""
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    error_summary: str | None
    error_type: str | None


class AuditList(BaseModel):
    """A page of audits, newest first."""

    items: list[AuditView]
    next_cursor: str | None
    has_more: bool


class PreviewRequest(BaseModel):
    """Body of `POST /audits/preview`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: UrlText


class PreviewView(BaseModel):
    """What an audit of the site would find to do."""

    url: str
    start_url: str
    """Behind the redirects."""
    status_code: int
    robots_status: int | None
    is_allowed: bool
    """robots.txt lets us read the start page."""
    crawl_delay: float
    """Seconds that robots.txt asks for between two requests; 0 for none."""
    sitemap_url: str | None
    estimated_pages: int
    estimated_by: Literal["sitemap", "sitemap index", "links of the start page"]
    is_lower_bound: bool
    """There may be more pages: the source of the estimate doesn't list them all."""
    requests: int
    """That this preview sent."""


class ReportView(BaseModel):
    """Where a report can be read, for an hour at most."""

    format: FormatName
    media_type: str
    url: str
    expires_in: int
    """Seconds."""


class IssueEvidenceView(BaseModel):
    """Where something is wrong, what stands there, and what should."""

    where: str
    value: str
    threshold: str
    url: str


class IssueView(BaseModel):
    """A check that a page, or the site, failed."""

    check: str
    title: str
    category: str
    severity: str
    url: str
    count: int
    state: Literal["new", "still", ""]
    """Beside the audit before; empty where there is none."""
    advice: str
    source: str
    evidence: list[IssueEvidenceView]


class IssueList(BaseModel):
    """A page of issues: by severity, then category, then weight."""

    items: list[IssueView]
    next_cursor: str | None
    has_more: bool


class ArtifactView(BaseModel):
    """An object that the audit made."""

    artifact_id: str
    type: str
    storage_uri: str
    url: str | None
    created_at: str
    retention_until: str | None
    deleted_at: str | None


class ArtifactList(BaseModel):
    """A page of artifacts."""

    items: list[ArtifactView]
    next_cursor: str | None
    has_more: bool


class ChangedIssueView(BaseModel):
    """An issue that one of two audits has, or both."""

    check: str
    title: str
    severity: str
    url: str
    state: StateName
    """`not_seen`: the later audit didn't visit the page."""


class ComparisonView(BaseModel):
    """An audit beside an earlier one, and a page of the issues by what became of them."""

    audit_id: str
    compared_with: str
    score_before: float
    score_after: float
    change: float
    catalogue_changed: bool
    """Some differences may be those of the checks."""
    new: int
    fixed: int
    still: int
    not_seen: int
    items: list[ChangedIssueView]
    next_cursor: str | None
    has_more: bool


# ---------------------------------------------------------------- Views


def audit_view(job: Job) -> AuditView:
    """The view of an audit's job."""
    view, payload = job_view(job), job.payload
    result = view.result or {}
    return AuditView(
        audit_id=job.id,
        url=payload["url"],
        recipe=payload["recipe"],
        recipe_version=payload["version"],
        mode=payload.get("mode"),
        options=payload["sample"],
        status=view.status,
        progress=view.progress,
        step=view.step,
        waiting_for=view.waiting_for,
        run=view.run,
        attempts=view.attempts,
        created_at=view.created_at,
        started_at=view.started_at,
        finished_at=view.finished_at,
        duration_ms=view.duration_ms,
        score=result.get("score"),
        grade=result.get("grade"),
        categories=result.get("categories"),
        score_change=result.get("score_change"),
        result=view.result,
        error=view.error,
        error_summary=view.error_summary,
        error_type=view.error_type,
    )


@cache
def _checks() -> dict[str, Check[Any]]:
    return {check.id: check for check in catalogue()}


def issue_view(issue: LoggedIssue) -> IssueView:
    """The view of an issue; what the check is, the present catalogue says."""
    finding = issue.finding
    check = _checks().get(finding.check)
    return IssueView(
        check=finding.check,
        title=check.title if check else finding.check,
        category=check.category.value if check else "",
        severity=check.severity.value if check else "",
        url=finding.url,
        count=finding.count,
        state=issue.state,  # type: ignore[arg-type]  # written by Report.state
        advice=check.advice if check else "",
        source=check.source if check else "",
        evidence=[IssueEvidenceView(**each._asdict()) for each in finding.evidence],
    )


def artifact_list(page: ArtifactPage) -> ArtifactList:
    """The view of a page."""
    return ArtifactList(
        items=[_artifact(each) for each in page.artifacts],
        next_cursor=cursor_of(page.after),
        has_more=page.after is not None,
    )


def _artifact(artifact: Artifact) -> ArtifactView:
    return ArtifactView(
        artifact_id=artifact.id,
        type=artifact.type.value,
        storage_uri=artifact.storage_uri,
        url=artifact.url,
        created_at=stamp(artifact.created_at),
        retention_until=optional_stamp(artifact.retention_until),
        deleted_at=optional_stamp(artifact.deleted_at),
    )


def changed_issues(comparison: Comparison, state: StateName | None) -> list[ChangedIssueView]:
    """The issues of a comparison: new ones first."""
    groups: dict[StateName, tuple[Key, ...]] = {
        "new": comparison.new,
        "fixed": comparison.fixed,
        "still": comparison.still,
        "not_seen": comparison.not_seen,
    }
    return [
        _changed(key, name)
        for name, keys in groups.items()
        if state in (None, name)
        for key in keys
    ]


def _changed(key: Key, state: StateName) -> ChangedIssueView:
    name, url = key
    check = _checks().get(name)
    return ChangedIssueView(
        check=name,
        title=check.title if check else name,
        severity=check.severity.value if check else "",
        url=url,
        state=state,
    )

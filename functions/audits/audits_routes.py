"""Routes: audits of sites."""

import re
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from audits.audits_examples import AUDIT, PREVIEW
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.audits.api_models import (
    AuditList,
    AuditRequest,
    AuditSubmission,
    AuditView,
    PreviewRequest,
    PreviewView,
    RecipeName,
    ReportView,
)
from spinneret.audits.checks.models import Category, Severity
from spinneret.audits.issue_models import (
    ArtifactList,
    ArtifactView,
    ComparisonView,
    IssueFilter,
    IssueList,
    StateName,
)
from spinneret.audits.models import FormatName
from spinneret.audits.recipes import RECIPES
from spinneret.audits.service import AuditService
from spinneret.audits.wiring import audit_api
from spinneret.jobs.api_models import Moved, Timeline, event_view
from spinneret.jobs.keys import is_event_id
from spinneret.jobs.models import JobStatus, Transition
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    CircuitOpen,
    Conflict,
    Contended,
    ContentRefused,
    DomainBlocked,
    FetchFailed,
    FetchTimeout,
    HttpRefused,
    IdempotencyMismatch,
    TooManyRedirects,
    UrlBlocked,
    UrlInvalid,
)
from spinneret.kernel.paging import Page, position_of
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.job_responses import moved
from spinneret.runtime.http.requests import request_key, submitted
from spinneret.runtime.http.routes import Limit, Routes

routes = Routes(audit_api)
router = routes.router

_NUMBER = re.compile(r"[0-9]{1,9}")


@router.post(
    "/audits",
    **declared(
        Scope.WRITE,
        Permission.RUN_AUDITS,
        {202: AuditSubmission},
        UrlInvalid,
        UrlBlocked,
        DomainBlocked,
        CircuitOpen,
        IdempotencyMismatch,
        idempotent=True,
        examples=AUDIT,
    ),
)
def submit_audit(request: AuditRequest) -> Response[dict[str, Any]]:
    """Audit a site.

    Requests with the same Idempotency-Key return the same audit while the recipe's version is
    unchanged.
    """
    caller = routes.principal
    version = RECIPES[request.recipe].version
    key = request_key(router, caller, f"/audits by version {version}")
    return submitted(_audits().submit(caller.tenant, request, key))


@router.get("/audits", **declared(Scope.READ, Permission.VIEW_AUDITS))
def list_audits(
    status: JobStatus | None = None,
    recipe: RecipeName | None = None,
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    cursor: str | None = None,
) -> AuditList:
    """List audits, newest first. The filters examine a bounded number of audits per page."""
    return _audits().page(routes.tenant, status, recipe, position_of(cursor), limit)


@router.post(
    "/audits/preview",
    **declared(
        Scope.WRITE,
        Permission.RUN_AUDITS,
        {200: PreviewView},
        UrlInvalid,
        UrlBlocked,
        DomainBlocked,
        FetchFailed,
        FetchTimeout,
        HttpRefused,
        ContentRefused,
        TooManyRedirects,
        examples=PREVIEW,
    ),
)
def preview_audit(request: PreviewRequest) -> PreviewView:
    """Estimate the number of a site's pages with about three requests.

    The estimate uses the start page, robots.txt and the sitemap.
    """
    return routes.services.previews.preview(routes.tenant, request.url)


@router.get("/audits/<audit_id>", **declared(Scope.READ, Permission.VIEW_AUDITS))
def get_audit(audit_id: str) -> AuditView:
    """Return an audit's state and, once it is finished, its scores."""
    return _audits().get(routes.tenant, audit_id)


@router.get("/audits/<audit_id>/timeline", **declared(Scope.READ, Permission.VIEW_AUDITS))
def get_audit_timeline(
    audit_id: str, limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> Timeline:
    """List an audit's events, oldest first."""
    job = _audits().job(routes.tenant, audit_id)
    found = routes.services.jobs.events(job.ref, position_of(cursor, is_event_id), limit + 1)
    return Timeline.page(Page.cut(found, limit, lambda event: event.id), event_view)


@router.post(
    "/audits/<audit_id>/cancel",
    **declared(Scope.WRITE, Permission.RUN_AUDITS, {200: Moved}, Conflict, Contended),
)
def cancel_audit(audit_id: str) -> Moved:
    """Cancel an audit that isn't finished."""
    job = _audits().cancel(routes.tenant, audit_id)
    return Moved(job_id=job.id, status=job.status, message="cancelled")


@router.post(
    "/audits/<audit_id>/retry",
    **declared(Scope.WRITE, Permission.RUN_AUDITS, {200: Moved}, Conflict, Contended),
)
def retry_audit(audit_id: str) -> Moved:
    """Audit the site again under the same id, if the audit failed or is partial."""
    job = _audits().job(routes.tenant, audit_id)
    return moved(routes.services.jobs, routes.principal, job.id, Transition.RETRY)


@router.get(
    "/audits/<audit_id>/report",
    **declared(Scope.READ, Permission.VIEW_AUDITS, {200: ReportView}, Conflict),
)
def get_audit_report(
    audit_id: str,
    format: FormatName | Literal["markdown"] = "json",  # noqa: A002 - the field's name
) -> ReportView:
    """Return a download URL of the report; 409 for an audit without a result.

    `markdown` is an alias of `md`.
    """
    return _audits().report(routes.tenant, audit_id, "md" if format == "markdown" else format)


@router.get(
    "/audits/<audit_id>/issues",
    **declared(Scope.READ, Permission.VIEW_AUDITS, {200: IssueList}, Conflict),
)
def list_audit_issues(
    audit_id: str,
    check: str | None = None,
    category: Category | None = None,
    severity: Severity | None = None,
    state: Literal["new", "still"] | None = None,
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    cursor: str | None = None,
) -> IssueList:
    """List an audit's issues, sorted by severity, category and weight."""
    wanted = IssueFilter(check=check, category=category, severity=severity, state=state)
    return _audits().issues(routes.tenant, audit_id, wanted, _skipped(cursor), limit)


@router.get("/audits/<audit_id>/artifacts", **declared(Scope.READ, Permission.VIEW_AUDITS))
def list_audit_artifacts(
    audit_id: str, limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> ArtifactList:
    """List the objects that an audit stored: fetched pages, which expire, and reports."""
    return ArtifactList.page(
        _audits().artifacts(routes.tenant, audit_id, position_of(cursor), limit), ArtifactView.of
    )


@router.get(
    "/audits/<audit_id>/comparison",
    **declared(Scope.READ, Permission.VIEW_AUDITS, {200: ComparisonView}, Conflict),
)
def compare_audit(
    audit_id: str,
    other: Annotated[str | None, Query(alias="with")] = None,
    state: StateName | None = None,
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    cursor: str | None = None,
) -> ComparisonView:
    """Compare an audit with an earlier one.

    The default is the previous audit of the same site and recipe.
    """
    skipped = _skipped(cursor)
    return _audits().comparison(routes.tenant, audit_id, other, state, skipped, limit)


def _skipped(cursor: str | None) -> int:
    position = position_of(cursor, lambda text: _NUMBER.fullmatch(text) is not None)
    return int(position or 0)


def _audits() -> AuditService:
    return routes.services.audits

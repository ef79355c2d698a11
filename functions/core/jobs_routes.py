"""Routes: jobs of all kinds."""

from aws_lambda_powertools.event_handler import Response

from spinneret.access.keys.api_models import TicketView, ticket_view
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.jobs.api_models import (
    JobList,
    JobWithCounts,
    Moved,
    Timeline,
    event_view,
    job_view,
    job_with_counts,
)
from spinneret.jobs.control import JobControl
from spinneret.jobs.keys import is_event_id
from spinneret.jobs.kinds import all_kinds
from spinneret.jobs.models import JobFilter, JobRef, JobStatus, Transition
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, Contended, ValidationFailed
from spinneret.kernel.paging import Page, position_of
from spinneret.operations.wiring import core_api
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.job_responses import moved
from spinneret.runtime.http.responses import created_secret
from spinneret.runtime.http.routes import Limit, Routes
from spinneret.web.fetching.urls import wanted_host

routes = Routes(core_api)
router = routes.router


@router.get("/api/v1/jobs", **declared(Scope.READ, Permission.VIEW_JOBS))
def list_jobs(
    kind: str | None = None,
    status: JobStatus | None = None,
    domain: str | None = None,
    batch: str | None = None,
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    cursor: str | None = None,
) -> JobList:
    """List jobs, newest first. The filters examine a bounded number of jobs per page."""
    return _page(
        JobFilter(
            kind=_known(kind),
            status=status,
            domain=None if domain is None else wanted_host(domain),
            batch=batch,
        ),
        limit,
        cursor,
    )


@router.get("/api/v1/jobs/failed", **declared(Scope.READ, Permission.VIEW_JOBS))
def list_failed_jobs(
    kind: str | None = None,
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    cursor: str | None = None,
) -> JobList:
    """List failed jobs and jobs that wait for a redrive, newest first."""
    return _page(JobFilter(kind=_known(kind), troubled=True), limit, cursor)


@router.get("/api/v1/jobs/<job_id>", **declared(Scope.READ, Permission.VIEW_JOBS))
def get_job(job_id: str) -> JobWithCounts:
    """Return one job, with counters of its children if it has any."""
    job = _jobs().get(_ref(job_id))
    return job_with_counts(job, _jobs().counts(job))


@router.get("/api/v1/jobs/<job_id>/timeline", **declared(Scope.READ, Permission.VIEW_JOBS))
def get_timeline(
    job_id: str, limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> Timeline:
    """List a job's events, oldest first."""
    found = _jobs().events(_ref(job_id), position_of(cursor, is_event_id), limit + 1)
    return Timeline.page(Page.cut(found, limit, lambda event: event.id), event_view)


@router.post(
    "/api/v1/jobs/<job_id>/tickets", **declared(Scope.READ, Permission.VIEW_JOBS, {201: TicketView})
)
def issue_ticket(job_id: str) -> Response[TicketView]:
    """Issue a ticket for this job's stream, for clients that can't send headers."""
    job = _jobs().get(_ref(job_id))
    ticket = routes.services.keys.issue_ticket(routes.principal, job.id)
    return created_secret(ticket_view(ticket))


@router.post(
    "/api/v1/jobs/<job_id>/cancel",
    **declared(Scope.WRITE, Permission.CONTROL_JOBS, {200: Moved}, Conflict, Contended),
)
def cancel_job(job_id: str) -> Moved:
    """Cancel a job that isn't finished."""
    return moved(_jobs(), routes.principal, job_id, Transition.CANCEL)


@router.post(
    "/api/v1/jobs/<job_id>/pause",
    **declared(Scope.WRITE, Permission.CONTROL_JOBS, {200: Moved}, Conflict, Contended),
)
def pause_job(job_id: str) -> Moved:
    """Pause a job that isn't finished."""
    return moved(_jobs(), routes.principal, job_id, Transition.PAUSE)


@router.post(
    "/api/v1/jobs/<job_id>/resume",
    **declared(Scope.WRITE, Permission.CONTROL_JOBS, {200: Moved}, Conflict, Contended),
)
def resume_job(job_id: str) -> Moved:
    """Resume a paused job."""
    return moved(_jobs(), routes.principal, job_id, Transition.RESUME)


@router.post(
    "/api/v1/jobs/<job_id>/retry",
    **declared(Scope.WRITE, Permission.CONTROL_JOBS, {200: Moved}, Conflict, Contended),
)
def retry_job(job_id: str) -> Moved:
    """Start a new run of a failed job."""
    return moved(_jobs(), routes.principal, job_id, Transition.RETRY)


def _known(kind: str | None) -> str | None:
    """Return the kind; raise ValidationFailed if it doesn't exist."""
    if kind is None or kind in all_kinds():
        return kind
    raise ValidationFailed.of_field(
        "kind", f"no such kind: one of {', '.join(sorted(all_kinds()))}"
    )


def _page(wanted: JobFilter, limit: int, cursor: str | None) -> JobList:
    page = _jobs().page(routes.tenant, wanted, position_of(cursor), limit)
    return JobList.page(page, job_view)


def _ref(job_id: str) -> JobRef:
    return JobRef(tenant=routes.tenant, job_id=job_id)


def _jobs() -> JobControl:
    return routes.services.jobs

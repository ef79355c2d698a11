"""Responses about jobs of any kind."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from spinneret.jobs import limits, rules
from spinneret.jobs.kinds import all_kinds
from spinneret.jobs.models import (
    ChildCounts,
    Failure,
    Job,
    JobEvent,
    JobEventKind,
    JobStatus,
    Priority,
)
from spinneret.kernel.views import ListOf, Timestamp

WaitSeconds = Annotated[int, Field(ge=0, le=limits.WAIT_SECONDS)]


class JobView(BaseModel):
    """A job, as shown to its tenant.

    Its guards (fence, lock, keys), the kernel's internal counters and its payload are omitted. The
    view of the job's kind shows the payload as far as it is public.
    """

    job_id: str
    kind: str
    """Type of the job, such as `crawl` or `audit`."""
    status: JobStatus
    priority: Priority
    domain: str | None
    subject: str | None
    """Subject of the job, such as the URL of a crawl."""
    batch: str | None
    """Id of the batch or run that the job belongs to; null for a single job."""
    created_by: str | None
    """Id of the key or user that submitted the job; null for a child, whose parent has it, and for
    jobs that no request submitted."""
    run: int
    attempts: int
    max_attempts: int
    redrives: int
    progress: int
    step: str | None
    created_at: Timestamp
    updated_at: Timestamp
    """Time of the last change of state or progress, or of the last message to its workers."""
    due_at: Timestamp
    """Earliest time of the next attempt (RFC 3339, UTC)."""
    waiting_for: str | None
    expires_at: Timestamp | None
    """Time after which the job expires (RFC 3339, UTC); null without a limit."""
    started_at: Timestamp | None
    finished_at: Timestamp | None
    duration_ms: int | None
    """Time from the first claim of this run to its end, including waits."""
    result: dict[str, Any] | None
    """Result of the job, by its kind; null before the end."""
    result_expires_at: Timestamp | None
    """Time until which the result is returned for identical requests."""
    status_code: int | None
    """Last status of the site, also if the job failed because of it."""
    content_type: str | None
    """Media type of the site's last response; null without one."""
    error: dict[str, Any] | None
    """Last error: `error`, `code` and `details`; null without one."""
    error_summary: str | None
    error_type: str | None
    """`permanent`, `transient`, `dependency`, `lease_expired`, `expired` or `internal`."""


class CountsView(BaseModel):
    """Numbers of a job's children."""

    total_count: int
    completed_count: int
    failed_count: int
    """Failed children, including partially failed and expired ones."""
    cancelled_count: int
    pending_count: int


class JobWithCounts(JobView):
    """A job and the numbers of its children, if it has any."""

    parent: str | None
    """Id of the parent job."""
    children: CountsView | None
    """Numbers of the job's children; null if it has none."""


class JobList(ListOf[JobView]):
    """One page of jobs, newest first."""


class EventView(BaseModel):
    """One line of a timeline."""

    id: str
    """Id of the event, for `Last-Event-ID`."""
    event: JobEventKind
    """Kind of the event."""
    message: str
    progress: int
    created_at: Timestamp
    """Time of the event (RFC 3339, UTC)."""
    data: dict[str, Any]
    """Details of the event, by its kind."""


class Timeline(ListOf[EventView]):
    """One page of a timeline, oldest first."""


class Moved(BaseModel):
    """Response to cancel, pause, resume and retry."""

    job_id: str
    status: JobStatus
    """State of the job after the command."""
    message: str


def job_view(job: Job) -> JobView:
    """Return the view of a job."""
    failure = job.last_error
    found = job.result or (failure.details if failure else {})
    status_code, content_type = found.get("status_code"), found.get("content_type")
    return JobView.model_validate(
        {
            **vars(job),  # fields of the same name are the job's
            "job_id": job.id,
            "subject": _subject(job),
            "duration_ms": _duration_ms(job),
            "result_expires_at": job.result_expires_at,
            "status_code": status_code if isinstance(status_code, int) else None,
            "content_type": content_type if isinstance(content_type, str) else None,
            "error": _error_view(failure) if failure else None,
            "error_summary": failure.message if failure else None,
            "error_type": failure.type if failure else None,
        }
    )


def job_with_counts(job: Job, counts: ChildCounts | None) -> JobWithCounts:
    """Return the view of a job and its children."""
    shared = job_view(job).model_dump()
    if counts is None:
        return JobWithCounts(**shared, parent=job.parent, children=None)
    shared["progress"] = rules.progress_of(job, counts)
    children = CountsView(**rules.summary(counts))
    return JobWithCounts(**shared, parent=job.parent, children=children)


def _subject(job: Job) -> str | None:
    policy = all_kinds().get(job.kind)
    return policy.subject_of(job.payload) if policy else None


def _duration_ms(job: Job) -> int | None:
    if job.started_at is None or job.finished_at is None:
        return None
    return round((job.finished_at - job.started_at).total_seconds() * 1000)


def _error_view(failure: Failure) -> dict[str, Any]:
    return {"error": failure.message, "code": failure.code, "details": dict(failure.details)}


def event_view(event: JobEvent) -> EventView:
    """Return the view of an event."""
    return EventView.model_validate({**vars(event), "id": event.id, "event": event.kind})

"""State machine of a job, and steps that several moves share."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.jobs import limits
from spinneret.jobs.models import Job, JobEvent, JobEventKind, JobStatus, Transition
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict

TERMINAL: Final = frozenset(
    {
        JobStatus.COMPLETED,
        JobStatus.PARTIALLY_FAILED,
        JobStatus.FAILED,
        JobStatus.CANCELLED,
        JobStatus.EXPIRED,
    }
)

FIRST_EVENT_ID: Final = "00000000-000000"

# Terminal states are final within a run; a retry starts a new run.
TRANSITIONS: Final[Mapping[tuple[JobStatus, Transition], JobStatus]] = {
    (JobStatus.PENDING, Transition.CLAIM): JobStatus.RUNNING,
    (JobStatus.PENDING, Transition.RESEND): JobStatus.PENDING,
    (JobStatus.PENDING, Transition.SUPPLY): JobStatus.PENDING,
    (JobStatus.PAUSED, Transition.SUPPLY): JobStatus.PAUSED,
    (JobStatus.PENDING, Transition.CANCEL): JobStatus.CANCELLED,
    (JobStatus.PENDING, Transition.PAUSE): JobStatus.PAUSED,
    (JobStatus.PENDING, Transition.EXPIRE): JobStatus.EXPIRED,
    (JobStatus.RUNNING, Transition.CHECKPOINT): JobStatus.RUNNING,
    (JobStatus.RUNNING, Transition.COMPLETE): JobStatus.COMPLETED,
    (JobStatus.RUNNING, Transition.FAIL): JobStatus.FAILED,
    (JobStatus.RUNNING, Transition.WAIT): JobStatus.PENDING,
    (JobStatus.RUNNING, Transition.HAND_BACK): JobStatus.PENDING,
    (JobStatus.RUNNING, Transition.LOSE_LEASE): JobStatus.PENDING,
    (JobStatus.RUNNING, Transition.CANCEL): JobStatus.CANCELLED,
    (JobStatus.RUNNING, Transition.PAUSE): JobStatus.PAUSED,
    (JobStatus.PAUSED, Transition.RESUME): JobStatus.PENDING,
    (JobStatus.PAUSED, Transition.CANCEL): JobStatus.CANCELLED,
    (JobStatus.FAILED, Transition.RETRY): JobStatus.PENDING,
    (JobStatus.PARTIALLY_FAILED, Transition.RETRY): JobStatus.PENDING,
    (JobStatus.EXPIRED, Transition.RETRY): JobStatus.PENDING,
    (JobStatus.RUNNING, Transition.AWAIT): JobStatus.RUNNING,
    (JobStatus.RUNNING, Transition.END_PARTLY): JobStatus.PARTIALLY_FAILED,
    (JobStatus.COMPLETED, Transition.REOPEN): JobStatus.RUNNING,
    (JobStatus.FAILED, Transition.REOPEN): JobStatus.RUNNING,
    (JobStatus.PARTIALLY_FAILED, Transition.REOPEN): JobStatus.RUNNING,
}


def next_status(job: Job, move: Transition) -> JobStatus:
    """Return the status after a move. Raises Conflict if the job's status doesn't allow it."""
    to = TRANSITIONS.get((job.status, move))
    if to is None:
        raise Conflict(
            f"a {job.status} job can't {move}", details={"status": job.status, "move": move}
        )
    return to


def finished(job: Job, move: Transition, now: datetime) -> Job:
    """Return the job in the terminal state of the move, finished no earlier than it was started."""
    return replace(
        job,
        status=next_status(job, move),
        finished_at=max(now, job.started_at or job.created_at),
        updated_at=not_before_creation(job, now),
    )


def released(job: Job, now: datetime) -> Job:
    """Return the job without a claim; the claim's duration is added to `worked_ms`."""
    worked = now - job.claimed_at if job.claimed_at is not None else timedelta(0)
    return replace(
        job,
        worked_ms=job.worked_ms + max(0, round(worked.total_seconds() * 1000)),
        claimed_at=None,
        locked_by=None,
        locked_until=None,
        due_at=not_before_creation(job, now),
        updated_at=not_before_creation(job, now),
        sends=1,
        resent_at=None,
        own_faults=0,
        waiting_since=None,
        waiting_for=None,
    )


def resting(job: Job) -> Job:
    """Return the job paused, without an expiry: the tenant decides how long it waits."""
    return replace(
        job,
        status=next_status(job, Transition.PAUSE),
        deferred_since=None,
        expires_at=None,
        ending=False,
        rests_unchecked=False,
    )


def waiting(job: Job, due_at: datetime, now: datetime) -> Job:
    """Make the job due at that time, but not before its creation; no message yet if SQS can't delay
    it.
    """
    due = not_before_creation(job, due_at)
    too_far = (due - now).total_seconds() > bounds.SQS_MAX_DELAY_SECONDS
    return replace(job, due_at=due, sends=0 if too_far else 1)


def released_from_outside(job: Job, now: datetime) -> Job:
    """Release as `released`, but count the claim at most until its lease end: its worker may be
    dead.
    """
    worked_until = now if job.locked_until is None else min(now, job.locked_until)
    moment = not_before_creation(job, now)
    return replace(released(job, worked_until), due_at=moment, updated_at=moment)


def with_next_fence(job: Job) -> Job:
    """Increment the fence, as every move from outside a claim does; the old claim's writes then
    fail.
    """
    return replace(job, fence=job.fence + 1)


def not_before_creation(job: Job, moment: datetime) -> datetime:
    """Return `moment`, or the creation time if later.

    Clocks differ by seconds, and a job is never due, moved or started before its creation.
    """
    return max(moment, job.created_at)


def status_event(job: Job, moment: datetime, **data: Any) -> JobEvent:
    """Return the event of a move from outside a claim: the first of its fence."""
    return JobEvent(
        fence=job.fence,
        number=0,
        kind=JobEventKind.STATUS_CHANGED,
        message=job.status,
        created_at=moment,
        progress=job.progress,
        data={"status": job.status, **data},
    )


def first_event(job: Job) -> JobEvent:
    """Return the first event of a job's timeline, also long after its submission."""
    return JobEvent(
        fence=0,
        number=0,
        kind=JobEventKind.STATUS_CHANGED,
        message=JobStatus.PENDING,
        created_at=job.created_at,
        progress=0,
        data={"status": JobStatus.PENDING, "run": 1},
    )


def check_not_ahead(events: Iterable[JobEvent], now: datetime) -> None:
    """Raise ValueError for an event that is more than EVENT_AHEAD_SECONDS ahead of `now`."""
    latest = now + timedelta(seconds=limits.EVENT_AHEAD_SECONDS)
    for event in events:
        if event.created_at > latest:
            raise ValueError(f"event {event.id} is ahead of the clock: {event.created_at}")

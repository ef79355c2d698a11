"""Moves of a job by its tenant, by the arrival of its input, and at its expiry.

They raise Conflict if the job's status doesn't allow the move.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from spinneret.jobs.models import Failure, Job, JobStatus, Transition
from spinneret.jobs.rules.states import (
    finished,
    next_status,
    not_before_creation,
    released_from_outside,
    resting,
    with_next_fence,
)


def expire(job: Job, now: datetime) -> Job:
    """Expire a job that wasn't claimed in time, or didn't get its reservation in time."""
    missed = f"no slot in time: {job.waiting_for}" if job.waiting_for else "not started in time"
    failure = Failure(code="EXPIRED", message=missed, type="expired")
    return with_next_fence(
        replace(finished(job, Transition.EXPIRE, now), last_error=failure, waiting_for=None)
    )


def last_look(job: Job, now: datetime, seconds: float) -> Job:
    """Make an expired job due once more, for `seconds`, to check what an earlier claim did."""
    until = now + timedelta(seconds=seconds)
    return _due_now(job, now, ending=True, deferred_since=now, expires_at=until)


def cancel(job: Job, now: datetime) -> Job:
    """Cancel the job; its worker's next write is refused."""
    return with_next_fence(finished(released_from_outside(job, now), Transition.CANCEL, now))


def pause(job: Job, now: datetime) -> Job:
    """Pause the job until it is resumed; the next claim starts from the last effects."""
    return with_next_fence(resting(released_from_outside(job, now)))


def resume(job: Job, now: datetime) -> Job:
    """Make the job due at once."""
    return _due_now(job, now, status=next_status(job, Transition.RESUME), rests_unchecked=False)


def retry(job: Job, now: datetime) -> Job:
    """Start a new run under the same id; the timeline continues and the fence keeps rising.

    The percentage of a failed or expired job never falls. A job that ended in part starts from
    scratch.
    """
    run, family = job.run + 1, job.family
    from_scratch = family is not None or job.status is JobStatus.PARTIALLY_FAILED
    return _due_now(
        job,
        now,
        status=next_status(job, Transition.RETRY),
        run=run,
        attempts=0,
        redrives=0,
        worked_ms=0,
        own_faults=0,
        waiting_since=None,
        deferred_since=None,
        expires_at=None,
        started_at=None,
        finished_at=None,
        ending=False,
        progress=0 if from_scratch else job.progress,
        step=None,
        result=None,
        last_error=None,
        family=None if family is None else replace(family, settled=False, retried_in=run),
    )


def supply(job: Job, payload: Mapping[str, Any], now: datetime) -> Job:
    """Give a job the input that it waits for: it is due at once, or when it is resumed."""
    status = next_status(job, Transition.SUPPLY)
    return _due_now(job, now, status=status, payload=payload, waiting_for=None)


def _due_now(job: Job, now: datetime, **changes: Any) -> Job:
    """Return the changed job, due at once under the next fence; its message is not sent yet."""
    now = not_before_creation(job, now)
    due = replace(job, due_at=now, updated_at=now, sends=1, resent_at=None, **changes)
    return with_next_fence(due)


def is_troubled(job: Job) -> bool:
    """Return whether the job failed, or waits for a further series of attempts."""
    waits_for_retry_series = job.status is JobStatus.PENDING and job.redrives > 0
    return waits_for_retry_series or job.status in (JobStatus.FAILED, JobStatus.PARTIALLY_FAILED)

"""The life of a job as pure functions: each takes a job and answers the job after one step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.jobs.models import Failure, Job, JobStatus
from spinneret.kernel import limits
from spinneret.kernel.errors import (
    DependencyUnavailable,
    DomainError,
    PermanentError,
    TransientError,
)

TERMINAL: Final = frozenset(
    {
        JobStatus.COMPLETED,
        JobStatus.PARTIALLY_FAILED,
        JobStatus.FAILED,
        JobStatus.CANCELLED,
        JobStatus.EXPIRED,
    }
)

JITTER: Final = 0.2  # ruling "Backoff": ± 20 %


def backoff(failures: int, unit_random: float, cap: float) -> timedelta:
    """1 s, 2 s, 4 s … ± 20 %, never above `cap` seconds; `unit_random` is in [0, 1)."""
    base: float = min(cap, 2.0 ** min(max(failures, 1) - 1, 30))
    return timedelta(seconds=min(cap, base * (1 - JITTER + 2 * JITTER * unit_random)))


def complete(job: Job, result: Mapping[str, Any], now: datetime) -> Job:
    """The claim ends with a result."""
    return replace(
        _released(job, now),
        status=JobStatus.COMPLETED,
        progress=100,
        result=result,
        last_error=None,
        finished_at=_not_before(now, job.started_at),
    )


def after_error(job: Job, error: Exception, now: datetime, unit_random: float) -> Job:
    """The claim ends with an error (P-03 and the ruling "Backoff").

    Transient errors wait and are charged; a fault of our own parts waits uncharged, for an hour at
    most; everything else fails at once. An unexpected exception shows its class only: its text may
    hold anything.
    """
    match error:
        case DependencyUnavailable():
            return _wait_for_own_part(job, failure_of(error), now, unit_random)
        case TransientError():
            pause = backoff(job.attempts + 1, unit_random, limits.BACKOFF_CAP_SECONDS)
            if error.retry_after is not None:
                pause = max(pause, timedelta(seconds=error.retry_after))
            return _charged(job, failure_of(error), now, pause)
        case _:
            return _failed(job, failure_of(error), now)


def after_lease_expired(job: Job, now: datetime) -> Job:
    """The claim ended without a word: charged like a failure, due again at once."""
    failure = Failure(
        code="LEASE_EXPIRED", message="the worker was lost", type="lease_expired", details={}
    )
    return _charged(job, failure, now, timedelta(0))


def hand_back(job: Job, now: datetime) -> Job:
    """The worker stops before its own deadline: due again at once, nothing charged."""
    return replace(_released(job, now), status=JobStatus.PENDING)


def lease_expired(job: Job, now: datetime) -> bool:
    """Whether a running job's claim has run out."""
    return (
        job.status is JobStatus.RUNNING and job.locked_until is not None and job.locked_until <= now
    )


def sweep_at(job: Job) -> datetime | None:
    """When the sweeper looks at the job next; None when it is finished or paused.

    A running job's lease end; a pending job's resend time, later with every message sent.
    """
    match job.status:
        case JobStatus.RUNNING:
            return job.locked_until
        case JobStatus.PENDING:
            return job.due_at + _resend_wait(job.sends)
        case _:
            return None


def _resend_wait(sends: int) -> timedelta:
    """30 s after the first message, 1, 2, 4, 8 minutes after the next ones, then 15 each."""
    doubling = min(
        sends, int(math.log2(limits.RESEND_CAP_SECONDS / limits.RESEND_GRACE_SECONDS)) + 1
    )
    seconds = limits.RESEND_GRACE_SECONDS * (2**doubling - 1)
    return timedelta(seconds=seconds + (sends - doubling) * limits.RESEND_CAP_SECONDS)


def resent(job: Job) -> Job:
    """One more message was sent for the same wait."""
    return replace(job, sends=job.sends + 1)


def failure_of(error: Exception) -> Failure:
    """What a tenant may know of an error."""
    if not isinstance(error, DomainError):
        return Failure(
            code="INTERNAL_ERROR", message=type(error).__name__, type="internal", details={}
        )
    match error:
        case DependencyUnavailable():
            kind = "dependency"
        case TransientError():
            kind = "transient"
        case PermanentError():
            kind = "permanent"
        case _:
            kind = "internal"
    return Failure(code=error.code, message=error.message, type=kind, details=error.details)


def _wait_for_own_part(job: Job, failure: Failure, now: datetime, unit_random: float) -> Job:
    since = job.waiting_since or now
    if (now - since).total_seconds() >= limits.OWN_FAULT_LIMIT_SECONDS:
        return _failed(job, failure, now)
    faults = job.own_faults + 1
    return replace(
        _released(job, now),
        status=JobStatus.PENDING,
        due_at=now + backoff(faults, unit_random, limits.OWN_FAULT_CAP_SECONDS),
        own_faults=faults,
        waiting_since=since,
        last_error=failure,
    )


def _charged(job: Job, failure: Failure, now: datetime, pause: timedelta) -> Job:
    attempts = job.attempts + 1
    if attempts >= job.max_attempts:
        return replace(_failed(job, failure, now), attempts=attempts)
    return replace(
        _released(job, now),
        status=JobStatus.PENDING,
        due_at=now + pause,
        attempts=attempts,
        last_error=failure,
    )


def _failed(job: Job, failure: Failure, now: datetime) -> Job:
    return replace(
        _released(job, now),
        status=JobStatus.FAILED,
        last_error=failure,
        finished_at=_not_before(now, job.started_at),
    )


def _released(job: Job, now: datetime) -> Job:
    return replace(
        job,
        locked_by=None,
        locked_until=None,
        due_at=now,
        sends=1,
        own_faults=0,
        waiting_since=None,
    )


def _not_before(moment: datetime, earlier: datetime | None) -> datetime:
    return moment if earlier is None else max(moment, earlier)

"""The end of a claim: with a result, an error, a wait, or no answer at all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.jobs import limits
from spinneret.jobs.disclosure import failure_of
from spinneret.jobs.models import Failure, Job, JobStatus, Transition
from spinneret.jobs.rules.states import (
    finished,
    next_status,
    released,
    released_from_outside,
    waiting,
    with_next_fence,
)
from spinneret.kernel import bounds
from spinneret.kernel.errors import Contended, DependencyUnavailable, TransientError

JITTER: Final = 0.2  # ruling "Backoff": ± 20 %


def backoff(
    failures: int,
    unit_random: float,
    cap: float,
    delays: Sequence[float] = bounds.RETRY_DELAYS_SECONDS,
) -> timedelta:
    """Return the delay by number of failures ± 20 %, at most `cap` seconds.

    The last of `delays` doubles for further failures; `unit_random` is in [0, 1).
    """
    nth = min(max(failures, 1), len(delays)) - 1
    doublings = min(max(failures - len(delays), 0), 30)
    base: float = min(cap, delays[nth] * 2.0**doublings)
    return timedelta(seconds=min(cap, base * (1 - JITTER + 2 * JITTER * unit_random)))


def complete(job: Job, result: Mapping[str, Any], now: datetime) -> Job:
    """End the claim with a result."""
    return replace(
        finished(released(job, now), Transition.COMPLETE, now),
        progress=100,
        result=result,
        last_error=None,
    )


def complete_in_part(job: Job, result: Mapping[str, Any], failure: Failure, now: datetime) -> Job:
    """End the claim with an incomplete result; a retry starts from scratch."""
    return replace(
        finished(released(job, now), Transition.END_PARTLY, now),
        progress=100,
        result=result,
        last_error=failure,
    )


def after_error(
    job: Job,
    error: Exception,
    now: datetime,
    unit_random: float,
    delays: Sequence[float] = bounds.RETRY_DELAYS_SECONDS,
) -> Job:
    """End the claim with an error (P-03 and the rulings "Backoff" and "Redrive").

    Transient errors wait and are charged. A fault of our own parts, and rows that others keep
    changing, wait uncharged, for an hour at most. Everything else fails at once. An unexpected
    exception shows only its class, because its text may contain anything.
    """
    match error:
        case DependencyUnavailable() | Contended():
            return _wait_for_own_part(job, failure_of(error), now, unit_random, delays)
        case TransientError():
            pause = backoff(job.attempts + 1, unit_random, limits.BACKOFF_CAP_SECONDS, delays)
            if error.retry_after is not None:
                asked = min(bounds.JOB_WAIT_MAX_SECONDS, error.retry_after)
                pause = max(pause, timedelta(seconds=max(0.0, asked)))
            return _charged(job, failure_of(error), now, pause)
        case _:
            charged = replace(job, attempts=job.attempts + 1)
            return _failed(charged, failure_of(error), now)


def after_lease_expired(job: Job, now: datetime) -> Job:
    """End the claim after its lease expired: charge it like a failure, and make the job due at
    once.

    A job that uses up its attempts this way fails for good: redrives are for transient reasons.
    """
    failure = Failure(
        code="LEASE_EXPIRED", message="the worker was lost", type="lease_expired", details={}
    )
    charged = replace(
        released_from_outside(job, now), attempts=job.attempts + 1, last_error=failure
    )
    if charged.attempts >= job.max_attempts:
        return with_next_fence(finished(charged, Transition.FAIL, now))
    return with_next_fence(replace(charged, status=next_status(job, Transition.LOSE_LEASE)))


def has_expired_lease(job: Job, now: datetime) -> bool:
    """Return whether the job's lease has ended by every clock, including skew."""
    if job.status is not JobStatus.RUNNING or job.locked_until is None:
        return False
    return job.locked_until + timedelta(seconds=bounds.CLOCK_SKEW_SECONDS) <= now


def hand_back(job: Job, now: datetime, work_seconds: float = bounds.JOB_WORK_SECONDS) -> Job:
    """Release the job before the worker's own deadline: due at once, nothing charged.

    A job that has worked for `work_seconds` in this run fails instead (ruling "Backoff").
    """
    after = released(job, now)
    if after.worked_ms >= work_seconds * 1000:
        failure = Failure(
            code="TIME_LIMIT", message=f"not done after {work_seconds:.0f} s", type="permanent"
        )
        return _failed(job, failure, now)
    return replace(after, status=next_status(job, Transition.HAND_BACK))


def defer(
    job: Job,
    until: datetime,
    waiting_for: str,
    now: datetime,
    pending_seconds: float | None = None,
    *,
    appointed: bool = False,
) -> Job:
    """Make the job wait for its reservation at `until`, without charging an attempt.

    It expires `pending_seconds` after the first deferral of this run; None means never. If
    `appointed`, the limit counts from `until`. A last look that can't continue in time expires at
    once.
    """
    since = until if appointed else job.deferred_since or now
    limit = None if pending_seconds is None else since + timedelta(seconds=pending_seconds)
    if job.ending and limit is not None and until >= limit:
        limit = now
    return replace(
        waiting(released(job, now), max(until, now), now),
        status=next_status(job, Transition.WAIT),
        waiting_for=waiting_for,
        deferred_since=since,
        expires_at=limit,
    )


def _wait_for_own_part(
    job: Job, failure: Failure, now: datetime, unit_random: float, delays: Sequence[float]
) -> Job:
    since = job.waiting_since or now
    if (now - since).total_seconds() >= limits.OWN_FAULT_LIMIT_SECONDS:
        return _failed(job, failure, now)
    faults = job.own_faults + 1
    return replace(
        released(job, now),
        status=next_status(job, Transition.WAIT),
        due_at=now + backoff(faults, unit_random, limits.OWN_FAULT_CAP_SECONDS, delays),
        own_faults=faults,
        waiting_since=since,
        last_error=failure,
    )


def _charged(job: Job, failure: Failure, now: datetime, wait: timedelta) -> Job:
    attempts = job.attempts + 1
    redrives = job.redrives
    if attempts >= job.max_attempts:
        if redrives >= job.max_redrives:
            return replace(_failed(job, failure, now), attempts=attempts)
        attempts, redrives = 0, redrives + 1
        wait = max(wait, _series_wait(redrives))
    return replace(
        waiting(released(job, now), now + wait, now),
        status=next_status(job, Transition.WAIT),
        attempts=attempts,
        redrives=redrives,
        last_error=failure,
    )


def _series_wait(redrives: int) -> timedelta:
    """Return the wait before a further series of attempts: 30 s, 1, 2, 4 minutes, then 5 (P-08)."""
    seconds = limits.REDRIVE_FIRST_SECONDS * 2.0 ** min(redrives - 1, 10)
    return timedelta(seconds=min(seconds, limits.REDRIVE_CAP_SECONDS))


def _failed(job: Job, failure: Failure, now: datetime) -> Job:
    return replace(finished(released(job, now), Transition.FAIL, now), last_error=failure)

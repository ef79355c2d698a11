"""The life of a job as pure functions: each takes a job and answers the job after one step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.jobs.disclosure import failure_of
from spinneret.jobs.models import Failure, Job, JobEvent, JobEventKind, JobStatus, Move
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, DependencyUnavailable, TransientError

TERMINAL: Final = frozenset(
    {
        JobStatus.COMPLETED,
        JobStatus.PARTIALLY_FAILED,
        JobStatus.FAILED,
        JobStatus.CANCELLED,
        JobStatus.EXPIRED,
    }
)

# The state machine. Within a run nothing leaves a terminal state; a retry begins a new run.
TRANSITIONS: Final[Mapping[tuple[JobStatus, Move], JobStatus]] = {
    (JobStatus.PENDING, Move.CLAIM): JobStatus.RUNNING,
    (JobStatus.PENDING, Move.RESEND): JobStatus.PENDING,
    (JobStatus.PENDING, Move.CANCEL): JobStatus.CANCELLED,
    (JobStatus.PENDING, Move.PAUSE): JobStatus.PAUSED,
    (JobStatus.PENDING, Move.EXPIRE): JobStatus.EXPIRED,
    (JobStatus.RUNNING, Move.CHECKPOINT): JobStatus.RUNNING,
    (JobStatus.RUNNING, Move.COMPLETE): JobStatus.COMPLETED,
    (JobStatus.RUNNING, Move.FAIL): JobStatus.FAILED,
    (JobStatus.RUNNING, Move.WAIT): JobStatus.PENDING,
    (JobStatus.RUNNING, Move.HAND_BACK): JobStatus.PENDING,
    (JobStatus.RUNNING, Move.LOSE_LEASE): JobStatus.PENDING,
    (JobStatus.RUNNING, Move.CANCEL): JobStatus.CANCELLED,
    (JobStatus.RUNNING, Move.PAUSE): JobStatus.PAUSED,
    (JobStatus.PAUSED, Move.RESUME): JobStatus.PENDING,
    (JobStatus.PAUSED, Move.CANCEL): JobStatus.CANCELLED,
    (JobStatus.FAILED, Move.RETRY): JobStatus.PENDING,
    (JobStatus.PARTIALLY_FAILED, Move.RETRY): JobStatus.PENDING,
}

JITTER: Final = 0.2  # ruling "Backoff": ± 20 %


def backoff(failures: int, unit_random: float, cap: float) -> timedelta:
    """1 s, 2 s, 4 s … ± 20 %, never above `cap` seconds; `unit_random` is in [0, 1)."""
    base: float = min(cap, 2.0 ** min(max(failures, 1) - 1, 30))
    return timedelta(seconds=min(cap, base * (1 - JITTER + 2 * JITTER * unit_random)))


def complete(job: Job, result: Mapping[str, Any], now: datetime) -> Job:
    """The claim ends with a result."""
    return replace(
        _finished(_released(job, now), Move.COMPLETE, now),
        progress=100,
        result=result,
        last_error=None,
    )


def after_error(job: Job, error: Exception, now: datetime, unit_random: float) -> Job:
    """The claim ends with an error (P-03 and the rulings "Backoff" and "Redrive").

    Transient errors wait and are charged; a fault of our own parts waits uncharged, for an hour at
    most; everything else fails at once. An unexpected exception shows its class only: its text may
    hold anything.
    """
    match error:
        case DependencyUnavailable():
            return _wait_for_own_part(job, failure_of(error), now, unit_random)
        case TransientError():
            pause = backoff(job.attempts + 1, unit_random, bounds.BACKOFF_CAP_SECONDS)
            if error.retry_after is not None:
                wish = min(bounds.JOB_WAIT_MAX_SECONDS, error.retry_after)
                pause = max(pause, timedelta(seconds=max(0.0, wish)))
            return _charged(job, failure_of(error), now, pause)
        case _:
            charged = replace(job, attempts=job.attempts + 1)
            return _failed(charged, failure_of(error), now)


def after_lease_expired(job: Job, now: datetime) -> Job:
    """The claim ended without a word: charged like a failure, due again at once.

    Who kills all its workers has failed for good: redrives are for transient reasons.
    """
    failure = Failure(
        code="LEASE_EXPIRED", message="the worker was lost", type="lease_expired", details={}
    )
    charged = replace(_withdrawn(job, now), attempts=job.attempts + 1, last_error=failure)
    if charged.attempts >= job.max_attempts:
        return _overtaken(_finished(charged, Move.FAIL, now))
    return _overtaken(replace(charged, status=_after(job, Move.LOSE_LEASE)))


def is_abandoned(job: Job, now: datetime) -> bool:
    """Running under a lease that is over by every clock that we reckon with."""
    if job.status is not JobStatus.RUNNING or job.locked_until is None:
        return False
    return job.locked_until + timedelta(seconds=bounds.CLOCK_SKEW_SECONDS) <= now


def hand_back(job: Job, now: datetime, work_seconds: float = bounds.JOB_WORK_SECONDS) -> Job:
    """The worker stops before its own deadline: due again at once, nothing charged.

    A job that has worked for `work_seconds` in this run fails instead (ruling "Backoff").
    """
    after = _released(job, now)
    if after.worked_ms >= work_seconds * 1000:
        failure = Failure(
            code="TIME_LIMIT", message=f"not done after {work_seconds:.0f} s", type="permanent"
        )
        return _failed(job, failure, now)
    return replace(after, status=_after(job, Move.HAND_BACK))


def defer(
    job: Job,
    until: datetime,
    waiting_for: str,
    now: datetime,
    pending_seconds: float | None = None,
) -> Job:
    """A polite wait for a turn at `until`; nothing is charged, however often it happens.

    `pending_seconds` after the first such wait of this run the job expires.
    """
    since = job.deferred_since or now
    limit = None if pending_seconds is None else since + timedelta(seconds=pending_seconds)
    return replace(
        _released(job, now),
        status=_after(job, Move.WAIT),
        due_at=_not_before_creation(job, max(until, now)),
        waiting_for=waiting_for,
        deferred_since=since,
        expires_at=limit,
    )


def expire(job: Job, now: datetime) -> Job:
    """The time within which a first claim, or a turn that was waited for, had to come is over."""
    missed = f"no turn in time: {job.waiting_for}" if job.waiting_for else "not begun in time"
    failure = Failure(code="EXPIRED", message=missed, type="expired")
    return _overtaken(
        replace(_finished(job, Move.EXPIRE, now), last_error=failure, waiting_for=None)
    )


def cancel(job: Job, now: datetime) -> Job:
    """By the tenant's word; a worker at it learns of it by its next write being refused.

    Raises Conflict for a finished job, like all moves that a tenant asks for.
    """
    return _overtaken(_finished(_withdrawn(job, now), Move.CANCEL, now))


def pause(job: Job, now: datetime) -> Job:
    """Nothing is done until it is resumed; what was claimed begins again from its last effects.

    Pausing lifts a limit of pending: the tenant takes the waiting on itself.
    """
    return _overtaken(
        replace(
            _withdrawn(job, now),
            status=_after(job, Move.PAUSE),
            deferred_since=None,
            expires_at=None,
        )
    )


def resume(job: Job, now: datetime) -> Job:
    """Due at once."""
    return _overtaken(
        replace(
            job, status=_after(job, Move.RESUME), due_at=_not_before_creation(job, now), sends=1
        )
    )


def retry(job: Job, now: datetime) -> Job:
    """A new run under the same id; the timeline goes on and the fence keeps rising."""
    after = replace(
        job,
        status=_after(job, Move.RETRY),
        run=job.run + 1,
        due_at=_not_before_creation(job, now),
        attempts=0,
        redrives=0,
        worked_ms=0,
        sends=1,
        own_faults=0,
        waiting_since=None,
        deferred_since=None,
        notification_tries=0,
        notification_at=None,
        started_at=None,
        finished_at=None,
        progress=0,
        step=None,
        last_error=None,
    )
    return _overtaken(after)


def is_troubled(job: Job) -> bool:
    """Failed, or waiting for a further series of attempts."""
    waits_for_redrive = job.status is JobStatus.PENDING and job.redrives > 0
    return waits_for_redrive or job.status in (JobStatus.FAILED, JobStatus.PARTIALLY_FAILED)


def awaits_notification(job: Job) -> bool:
    """Whether the end of the run is still to be told; who cancels a job knows it."""
    told = job.status in TERMINAL and job.status is not JobStatus.CANCELLED
    return told and bool(job.notify) and job.notified_run < job.run


def noticed(job: Job) -> Job:
    """The end of this run has been told."""
    return replace(job, notified_run=job.run)


def notification_tried(job: Job, now: datetime) -> Job:
    """The sweeper is about to try to tell the end of this run; its next try is later each time."""
    tries = job.notification_tries + 1
    gap = _resend_wait(tries + 1) - _resend_wait(tries)
    return replace(job, notification_tries=tries, notification_at=now + gap)


def status_event(job: Job, moment: datetime, **data: Any) -> JobEvent:
    """Tells the status of a job that was moved from outside a claim: the first of its fence."""
    return JobEvent(
        fence=job.fence,
        number=0,
        kind=JobEventKind.STATUS_CHANGED,
        message=job.status,
        created_at=moment,
        progress=job.progress,
        data={"status": job.status, **data},
    )


def sweep_at(job: Job) -> datetime | None:
    """When the sweeper looks at the job next; None when it is paused, or finished and told.

    A running job's lease end; a pending job's resend time, later with every message sent, or its
    expiry; the next try to tell the end of a run, until there were NOTIFICATION_TRIES.
    """
    match job.status:
        case JobStatus.RUNNING:
            return job.locked_until
        case JobStatus.PENDING:
            resend = job.due_at + _resend_wait(job.sends)
            return min(resend, job.expires_at) if job.expires_at else resend
        case _ if awaits_notification(job) and job.notification_tries < bounds.NOTIFICATION_TRIES:
            assert job.finished_at is not None  # it has ended
            return job.notification_at or job.finished_at + _resend_wait(1)
        case _:
            return None


def _resend_wait(sends: int) -> timedelta:
    """30 s after the first message, 1, 2, 4 … 32 minutes after the next ones, then an hour each."""
    doubling = min(
        sends, int(math.log2(bounds.RESEND_CAP_SECONDS / bounds.RESEND_GRACE_SECONDS)) + 1
    )
    seconds = bounds.RESEND_GRACE_SECONDS * (2**doubling - 1)
    return timedelta(seconds=seconds + (sends - doubling) * bounds.RESEND_CAP_SECONDS)


def resent(job: Job, now: datetime) -> Job:
    """One more message was sent for the same wait; times of resends that were missed are over."""
    after = replace(job, sends=job.sends + 1)
    while job.due_at + _resend_wait(after.sends) <= now:
        after = replace(after, sends=after.sends + 1)
    return after


def _wait_for_own_part(job: Job, failure: Failure, now: datetime, unit_random: float) -> Job:
    since = job.waiting_since or now
    if (now - since).total_seconds() >= bounds.OWN_FAULT_LIMIT_SECONDS:
        return _failed(job, failure, now)
    faults = job.own_faults + 1
    return replace(
        _released(job, now),
        status=_after(job, Move.WAIT),
        due_at=now + backoff(faults, unit_random, bounds.OWN_FAULT_CAP_SECONDS),
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
        wait = max(wait, _redrive_wait(redrives))
    return replace(
        _released(job, now),
        status=_after(job, Move.WAIT),
        due_at=now + wait,
        attempts=attempts,
        redrives=redrives,
        last_error=failure,
    )


def _redrive_wait(redrives: int) -> timedelta:
    """30 s, 1, 2, 4 minutes, then 5 (P-08)."""
    seconds = bounds.REDRIVE_FIRST_SECONDS * 2.0 ** min(redrives - 1, 10)
    return timedelta(seconds=min(seconds, bounds.REDRIVE_CAP_SECONDS))


def _failed(job: Job, failure: Failure, now: datetime) -> Job:
    return replace(_finished(_released(job, now), Move.FAIL, now), last_error=failure)


def _finished(job: Job, move: Move, now: datetime) -> Job:
    return replace(
        job,
        status=_after(job, move),
        finished_at=max(now, job.started_at or job.created_at),
    )


def _after(job: Job, move: Move) -> JobStatus:
    to = TRANSITIONS.get((job.status, move))
    if to is None:
        raise Conflict(
            f"a {job.status} job can't {move}", details={"status": job.status, "move": move}
        )
    return to


def _withdrawn(job: Job, now: datetime) -> Job:
    """Released by somebody else: nobody is known to have worked past the end of the lease."""
    worked_until = now if job.locked_until is None else min(now, job.locked_until)
    return replace(_released(job, worked_until), due_at=_not_before_creation(job, now))


def _released(job: Job, now: datetime) -> Job:
    """Out of a claim, if it was in one; the time under it is added up."""
    worked = now - job.claimed_at if job.claimed_at is not None else timedelta(0)
    return replace(
        job,
        worked_ms=job.worked_ms + max(0, round(worked.total_seconds() * 1000)),
        claimed_at=None,
        locked_by=None,
        locked_until=None,
        due_at=_not_before_creation(job, now),
        sends=1,
        own_faults=0,
        waiting_since=None,
        waiting_for=None,
    )


def _not_before_creation(job: Job, moment: datetime) -> datetime:
    """Clocks differ by seconds; a job is never due, and so never started, before it was made."""
    return max(moment, job.created_at)


def _overtaken(job: Job) -> Job:
    """Moved from outside: the next fence, so that whoever had claimed the job can write no more."""
    return replace(job, fence=job.fence + 1)

"""Times at which the sweeper acts on a job, and its changes.

There are two times, for two indexes, so that timed actions never queue behind jobs that may only
need another message.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from spinneret.jobs import limits
from spinneret.jobs.models import Job, JobStatus
from spinneret.jobs.rules.families import awaits_children, has_children_to_cancel
from spinneret.jobs.rules.states import waiting
from spinneret.kernel import bounds


def wake_at(job: Job) -> datetime | None:
    """Return the time at which the sweeper must act on the job; None if it needn't.

    This is a running job's lease end, the next check of a parent's children, the check of a child
    that rests with its parent, a pending job's expiry, or the time from which SQS can delay the
    message of a long wait.
    """
    match job.status:
        case JobStatus.RUNNING if awaits_children(job):
            return job.due_at + timedelta(seconds=limits.CHILDREN_CHECK_SECONDS)
        case JobStatus.RUNNING:
            return job.locked_until
        case JobStatus.PAUSED if job.rests_unchecked:
            return job.updated_at + timedelta(seconds=limits.CHILDREN_CHECK_SECONDS)
        case JobStatus.CANCELLED if has_children_to_cancel(job):
            return job.due_at + timedelta(seconds=limits.CHILDREN_CHECK_SECONDS)
        case JobStatus.PENDING:
            moments = [send_at(job), None if _expires_late(job) else job.expires_at]
            return min((each for each in moments if each is not None), default=None)
        case _:
            return None


def _expires_late(job: Job) -> bool:
    """Return whether the first message of a wait counts as lost long before the job expires.

    The write that counts a resend adds the expiry; most jobs are claimed before that.
    """
    if job.sends != 1 or job.resent_at is not None or job.expires_at is None:
        return False
    return job.expires_at - job.due_at > timedelta(seconds=limits.LATE_EXPIRY_SECONDS)


def send_at(job: Job) -> datetime | None:
    """Return the time of a long wait's first message, delayed by the rest; None for other jobs."""
    if job.status is not JobStatus.PENDING or job.sends:
        return None
    return job.due_at - timedelta(seconds=limits.LONG_WAIT_LEAD_SECONDS)


def resend_at(job: Job) -> datetime | None:
    """Return when the job's message counts as lost in an empty lane; None if there is no message.

    This is RESEND_GRACE_SECONDS after the job was due, or after the last resend.
    """
    return _lost_at(job, 1)


def spaced_resend_at(job: Job) -> datetime | None:
    """Return when the message counts as lost in a lane that isn't empty and may still hold it.

    This is 30 s after the job was due, or after the last resend 1, 2, 4 … 32 minutes, then an hour.
    """
    return _lost_at(job, job.sends)


def sweep_at(job: Job) -> datetime | None:
    """Return the earlier of `wake_at` and `resend_at`."""
    moments = [wake_at(job), resend_at(job)]
    return min((each for each in moments if each is not None), default=None)


def sent(job: Job, now: datetime) -> Job:
    """Record that the first message of a long wait was sent."""
    return replace(job, sends=1, resent_at=now, updated_at=now)


def resent(job: Job, now: datetime) -> Job:
    """Record that one more message was sent for the same wait."""
    return replace(job, sends=job.sends + 1, resent_at=now, updated_at=now)


def put_off(job: Job, since: datetime, now: datetime) -> Job:
    """Return a pending job of a suspended tenant, due after `held_for`.

    Its expiry, and the beginnings from which the limits of its waits count, move as far.
    """
    wait = held_for(since, now)
    return replace(
        waiting(job, now + wait, now),
        deferred_since=_later(job.deferred_since, wait),
        waiting_since=_later(job.waiting_since, wait),
        expires_at=_later(job.expires_at, wait),
        resent_at=None,
        updated_at=now,
    )


def _later(moment: datetime | None, by: timedelta) -> datetime | None:
    return None if moment is None else moment + by


def held_for(since: datetime, now: datetime) -> timedelta:
    """Return how long work of a tenant waits that is suspended since a time.

    This is once more as long as the suspension has lasted: HOLD_WAIT_SECONDS_MIN to
    SQS_MAX_DELAY_SECONDS. So a short suspension ends soon, and a long one costs little.
    """
    seconds = max((now - since).total_seconds(), limits.HOLD_WAIT_SECONDS_MIN)
    return timedelta(seconds=min(seconds, bounds.SQS_MAX_DELAY_SECONDS))


def started_by_execution(job: Job, until: datetime) -> Job:
    """Record that the parent's execution starts the job.

    The missing message counts as lost only RESEND_GRACE_SECONDS after `until`.
    """
    return replace(job, resent_at=until)


def _lost_at(job: Job, gaps: int) -> datetime | None:
    if job.status is not JobStatus.PENDING or not job.sends:
        return None
    return max(job.due_at, job.resent_at or job.due_at) + _gap(gaps)


def _gap(sends: int) -> timedelta:
    doubled = limits.RESEND_GRACE_SECONDS * 2.0 ** min(sends - 1, 20)
    return timedelta(seconds=min(doubled, limits.RESEND_CAP_SECONDS))

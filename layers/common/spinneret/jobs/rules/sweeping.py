"""When the sweeper looks at a job, and what it then changes."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timedelta

from spinneret.jobs.models import Job, JobStatus
from spinneret.jobs.rules.states import TERMINAL
from spinneret.kernel import bounds


def awaits_notification(job: Job) -> bool:
    """Whether the end of the run is still to be published; a cancelled job publishes none."""
    published = job.status in TERMINAL and job.status is not JobStatus.CANCELLED
    return published and bool(job.notify) and job.notified_run < job.run


def mark_notified(job: Job) -> Job:
    """The end of this run has been published."""
    return replace(job, notified_run=job.run)


def notification_tried(job: Job, now: datetime) -> Job:
    """The sweeper is about to publish the end of this run; its next try is later each time."""
    tries = job.notification_tries + 1
    gap = _resend_wait(tries + 1) - _resend_wait(tries)
    return replace(job, notification_tries=tries, notification_at=now + gap)


def sweep_at(job: Job) -> datetime | None:
    """When the sweeper looks at the job next; None when it is paused, or finished and published.

    A running job's lease end; a pending job's resend time, later with every message sent, or its
    expiry; the next try to publish the end of a run, until there were NOTIFICATION_TRIES.
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


def resent(job: Job, now: datetime) -> Job:
    """One more message was sent for the same wait; resend times that were missed are skipped."""
    after = replace(job, sends=job.sends + 1)
    while job.due_at + _resend_wait(after.sends) <= now:
        after = replace(after, sends=after.sends + 1)
    return after


def _resend_wait(sends: int) -> timedelta:
    """30 s after the first message, 1, 2, 4 … 32 minutes after the next ones, then an hour each."""
    doubling = min(
        sends, int(math.log2(bounds.RESEND_CAP_SECONDS / bounds.RESEND_GRACE_SECONDS)) + 1
    )
    seconds = bounds.RESEND_GRACE_SECONDS * (2**doubling - 1)
    return timedelta(seconds=seconds + (sends - doubling) * bounds.RESEND_CAP_SECONDS)

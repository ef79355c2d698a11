"""Duration of claims, and reclaiming the claim of a lost worker."""

from collections.abc import Callable
from datetime import datetime, timedelta

from spinneret.jobs import limits, rules
from spinneret.jobs.models import Job
from spinneret.jobs.ports import JobStore
from spinneret.kernel import bounds, metrics
from spinneret.kernel.clock import Clock

Remaining = Callable[[], float]
"""Function that returns the seconds that the invocation has left."""


def remaining_of(seconds: float, monotonic: Callable[[], float]) -> Remaining:
    """Return a function that counts down `seconds` from now."""
    end = monotonic() + seconds
    return lambda: end - monotonic()


def lease_end(clock: Clock, remaining: Remaining) -> datetime:
    """Return now + min(300 s, remaining time of the invocation + margin) (P-02)."""
    seconds = min(limits.LEASE_MAX_SECONDS, remaining() + bounds.LEASE_MARGIN_SECONDS)
    return clock() + timedelta(seconds=seconds)


def renewed(until: datetime | None, clock: Clock, remaining: Remaining) -> datetime:
    """Return the end of a renewed lease: its former end, if that is less than a second earlier.

    Most leases end with their invocation, whose end each write computes from two clocks.
    """
    end = lease_end(clock, remaining)
    if until is not None and timedelta(0) <= end - until < timedelta(seconds=1):
        return until
    return end


def reclaim(store: JobStore, job: Job, now: datetime) -> Job:
    """End the claim of a lost worker; return the job after that.

    Raises LeaseLost if the row has changed since it was read.
    """
    after = rules.after_lease_expired(job, now)
    assert job.locked_until is not None  # a running job has a lease
    moment = max(job.locked_until, after.finished_at or job.locked_until)
    store.transition(job, after, [rules.status_event(after, moment, reason="LEASE_EXPIRED")])
    metrics.LEASES_RECLAIMED.add()
    return after

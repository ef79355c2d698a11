"""The sweeper: nothing that was accepted waits for ever.

A queue message is only a hint. The sweeper walks the due index and brings back what its hint has
missed: jobs whose message was never sent or was lost, waits beyond what SQS can delay, claims
whose lease ran out, and jobs that nobody began in time.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.jobs import rules
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import Event, Job, JobRef, JobStatus
from spinneret.jobs.ports import JobQueue, JobStore, Listener
from spinneret.jobs.worker import send
from spinneret.kernel import limits
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import LeaseLost

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Swept:
    """What one pass did."""

    resent: int
    leases_expired: int
    expired: int
    """Jobs whose first claim didn't come in time."""
    notified: int
    """Finished jobs whose end had not been told."""
    raced: int
    """Jobs that moved on between look-up and write: nothing to do."""


class Sweeper:
    """One bounded pass over the due index; what it doesn't reach, the next pass does."""

    def __init__(
        self,
        *,
        store: JobStore,
        queue: JobQueue,
        kinds: Mapping[str, KindPolicy],
        clock: Clock,
        notify: Listener,
    ) -> None:
        self._store = store
        self._queue = queue
        self._kinds = kinds
        self._clock = clock
        self._notify = notify

    def sweep(self) -> Swept:
        """At most SWEEP_PAGE jobs of every shard, oldest first."""
        counts = {"resent": 0, "leases_expired": 0, "expired": 0, "notified": 0, "raced": 0}
        for shard in range(limits.SWEEP_SHARDS):
            for ref in self._store.due(shard, self._clock(), limits.SWEEP_PAGE):
                if done := self._bring_back(ref):
                    counts[done] += 1
        swept = Swept(**counts)
        if any(counts.values()):
            logger.info("swept", extra=counts)
        return swept

    def _bring_back(self, ref: JobRef) -> str | None:
        job = self._store.get(ref)
        now = self._clock()
        watch = rules.sweep_at(job) if job else None
        if job is None or watch is None or watch > now:
            return None  # the index lags behind the row
        if rules.awaits_notice(job):
            self._notify(job, ())
            return "notified"
        try:
            if job.expires_at is not None and job.expires_at <= now:
                after = rules.expire(job, now)
                self._store.transition(job, after, [rules.status_event(after, now, run=after.run)])
                return "expired"
            if job.status is JobStatus.PENDING:
                self._store.transition(job, rules.resent(job))
                send(self._queue, self._kinds, job, now)
                return "resent"
            after = rules.after_lease_expired(job, now)
            self._store.transition(job, after, [_lease_event(job, after)])
        except LeaseLost:
            return "raced"
        if after.status is JobStatus.PENDING:
            send(self._queue, self._kinds, after, now)
        return "leases_expired"


def _lease_event(job: Job, after: Job) -> Event:
    assert job.locked_until is not None  # a running job has a lease
    moment = max(job.locked_until, after.finished_at or job.locked_until)
    return rules.status_event(after, moment, reason="LEASE_EXPIRED")

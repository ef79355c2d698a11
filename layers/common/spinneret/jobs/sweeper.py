"""The sweeper: no accepted job waits for ever.

A queue message is only a hint. The sweeper walks the due index and brings back what its hint has
missed: jobs whose message was never sent or was lost, waits beyond what SQS can delay, claims
whose lease ran out, jobs that were never claimed in time, and ends that were not published.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from spinneret.jobs import rules
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.leases import reclaim
from spinneret.jobs.models import Job, JobRef, JobStatus
from spinneret.jobs.ports import DuePosition, JobQueue, JobStore, Listener
from spinneret.jobs.worker import send
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Swept:
    """What one pass did."""

    resent: int = 0
    leases_expired: int = 0
    expired: int = 0
    """Jobs that were not claimed in time."""
    notified: int = 0
    """Finished jobs whose end was not published in time."""
    raced: int = 0
    """Jobs that moved on between look-up and write: nothing to do."""
    failed: int = 0
    """Jobs, pages and notifications that failed: a later pass tries again."""
    unfinished: int = 0
    """Shards whose end wasn't reached within SWEEP_SECONDS."""


Turn = tuple[int, DuePosition | None]
"""A shard, and where in it to go on."""


@dataclass(kw_only=True)
class _Pass:
    begun: datetime
    counts: Counter[str] = field(default_factory=Counter)
    refusals: int = 0
    """Calls in a row that weren't answered."""
    met: set[type[Exception]] = field(default_factory=set)
    """What jobs were passed over for."""

    def refused(self, error: DependencyUnavailable) -> None:
        """One job or one page may be passed over; a part that is down isn't asked for each job."""
        self.counts["failed"] += 1
        self.refusals += 1
        logger.warning("sweep_refused", extra={"reason": error.message})
        if self.refusals == bounds.SWEEP_REFUSALS:
            raise error


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
        """What was due when the pass began, oldest first; the shards take turns of a page each.

        Raises DependencyUnavailable after SWEEP_REFUSALS calls in a row that weren't answered.
        """
        this = _Pass(begun=self._clock())
        turns = deque(_shards(this.begun))
        try:
            while turns and self._in_time(this):
                turns += self._turn(turns.popleft(), this)
        finally:
            swept = Swept(**this.counts, unfinished=len(turns))
            if swept != Swept():
                logger.info("swept", extra=asdict(swept))
        return swept

    def _in_time(self, this: _Pass) -> bool:
        return self._clock() - this.begun < timedelta(seconds=bounds.SWEEP_SECONDS)

    def _turn(self, turn: Turn, this: _Pass) -> list[Turn]:
        """Bring a page back; where its shard goes on, if it does."""
        shard, after = turn
        try:
            page = self._store.due(shard, this.begun, bounds.SWEEP_PAGE, after)
        except DependencyUnavailable as error:
            this.refused(error)
            return []
        this.refusals = 0
        for ref in page.refs:
            if not self._in_time(this):
                return [turn]
            self._try(ref, this)
        return [] if page.after is None else [(shard, page.after)]

    def _try(self, ref: JobRef, this: _Pass) -> None:
        """Bring one job back; whatever is wrong with it concerns no other job."""
        try:
            done = self._bring_back(ref)
        except LeaseLost:
            done = "raced"
        except DependencyUnavailable as error:
            this.refused(error)
            return
        except Exception as error:  # a row or a kind that this release can't read
            facts = {"job_id": ref.job_id, "error_type": type(error).__name__}
            first = type(error) not in this.met  # one stack is enough; there may be thousands
            this.met.add(type(error))
            logger.error("sweep_failed", extra=facts, exc_info=error if first else None)
            done = "failed"
        this.refusals = 0
        if done is not None:
            this.counts[done] += 1

    def _bring_back(self, ref: JobRef) -> str | None:
        job = self._store.get(ref)
        now = self._clock()
        sweep_at = rules.sweep_at(job) if job else None
        if job is None or sweep_at is None or sweep_at > now:
            return None  # the index lags behind the row
        if rules.awaits_notification(job):
            return self._publish_end(job, now)
        if job.status is JobStatus.RUNNING:
            after = reclaim(self._store, job, now)
            if after.status is JobStatus.PENDING:
                send(self._queue, self._kinds, after, now)
            return "leases_expired"
        if job.expires_at is not None and job.expires_at <= now:
            after = rules.expire(job, now)
            self._store.transition(job, after, [rules.status_event(after, now, run=after.run)])
            return "expired"
        self._store.transition(job, rules.resent(job, now))
        send(self._queue, self._kinds, job, now)
        return "resent"

    def _publish_end(self, job: Job, now: datetime) -> str:
        """One more try; the next one is stored first, so that no failure repeats at once."""
        tried = rules.notification_tried(job, now)
        self._store.transition(job, tried)
        self._notify(tried, ())
        after = self._store.get(job.ref)
        if after is None or after.run != job.run or not rules.awaits_notification(after):
            return "notified"
        if after.notification_tries >= bounds.NOTIFICATION_TRIES:
            logger.error(
                "notification_abandoned",
                extra={"job_id": job.id, "tries": after.notification_tries},
            )
        return "failed"


def _shards(now: datetime) -> list[Turn]:
    """All of them, beginning with another one every minute."""
    first = int(now.timestamp() // 60)
    return [((first + n) % bounds.SWEEP_SHARDS, None) for n in range(bounds.SWEEP_SHARDS)]

"""The sweeper, which ensures that no accepted job waits forever.

A queue message is only a hint. A pass has two parts over two indexes. First it performs timed
actions: it ends the claims of lost workers, expires jobs, and sends the messages of waits that SQS
can't delay. Then it resends messages that may be lost, except to a lane with a backlog, where
unclaimed jobs are merely queued. (`outbox.relay` sweeps events that were not relayed.)
"""

import logging
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from spinneret.jobs import limits, rules
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.leases import reclaim
from spinneret.jobs.models import Job, JobRef, JobStatus, Lane
from spinneret.jobs.ports import (
    DuePage,
    DuePosition,
    JobQueue,
    JobStore,
    ResendShard,
    SubmissionRaced,
)
from spinneret.jobs.worker import delay_of, lane_of
from spinneret.kernel import bounds, metrics
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class SweepResult:
    """Result of one pass."""

    resent: int = 0
    sent: int = 0
    """First messages of long waits."""
    leases_expired: int = 0
    expired: int = 0
    """Jobs that were not claimed in time."""
    last_looks: int = 0
    """Expired jobs that are claimed once more before they end."""
    parents: int = 0
    """Parents whose children were checked."""
    rests: int = 0
    """Children that stopped with their parent, which is still paused."""
    resumed: int = 0
    """Children that stopped with their parent, which no longer is."""
    raced: int = 0
    """Jobs that changed between look-up and write; nothing to do."""
    failed: int = 0
    """Jobs, pages and lanes that failed; a later pass retries them."""
    unfinished: int = 0
    """Shards whose end wasn't reached within the bounds of a pass."""


@dataclass(kw_only=True)
class _Pass:
    begun: datetime
    counts: Counter[str] = field(default_factory=Counter)
    refusals: int = 0
    """Consecutive calls without an answer."""
    queue_is_down: bool = False
    """Whether a call of the queue failed; this pass then sends nothing more."""
    latest: timedelta = timedelta()
    """Longest time that a job had been due when it was woken."""
    met: set[type[Exception]] = field(default_factory=set)
    """Unexpected errors that were logged with their stack."""

    def refused(self, error: DependencyUnavailable) -> None:
        """Count a failed call; re-raise after SWEEP_REFUSALS in a row, so that an outage isn't
        retried for every job.
        """
        self.counts["failed"] += 1
        self.refusals += 1
        logger.warning("sweep_refused", extra={"reason": error.message})
        if self.refusals == bounds.SWEEP_REFUSALS:
            raise error


@dataclass(frozen=True, kw_only=True)
class _Lost:
    """Criterion for lost messages of a lane: `moment` of the job is not after `until`."""

    until: datetime
    moment: Callable[[Job], datetime | None] = rules.resend_at


@dataclass(kw_only=True)
class _Shard:
    """One partition of an index, and the position read so far."""

    read: Callable[[DuePosition | None], DuePage]
    act: Callable[[JobRef, _Pass], str | None]
    lane: Lane | None = None
    after: DuePosition | None = None


@service
class Sweeper:
    """Bounded passes over both indexes; the next pass continues with what one doesn't reach."""

    store: JobStore
    queue: JobQueue
    kinds: Mapping[str, KindPolicy]
    clock: Clock
    look_at_parent: Callable[[Job], None]

    def sweep(self) -> SweepResult:
        """Process the jobs due at the start of the pass, oldest first, a page of each shard in
        rotation.

        Waking ends after SWEEP_WAKES jobs or SWEEP_WAKE_SECONDS, the pass after SWEEP_SECONDS, a
        lane's resends after SWEEP_RESENDS. Raises DependencyUnavailable after SWEEP_REFUSALS
        consecutive calls without an answer.
        """
        this = _Pass(begun=self.clock())
        try:
            self._wake_all(this)
            self._resend_all(this)
        finally:
            metrics.WAKE_LATE.add(round(this.latest.total_seconds(), 3))
            swept = SweepResult(**this.counts)
            if swept != SweepResult():
                logger.info("swept", extra=asdict(swept))
        return swept

    # ------------------------------------------------------------ Both parts

    def _walk(self, shards: deque[_Shard], this: _Pass, seconds: float, most: int) -> None:
        """Act on the jobs of these shards, until `seconds` after the pass began."""
        until = this.begun + timedelta(seconds=seconds)
        acted: Counter[Lane | None] = Counter()

        def is_over(shard: _Shard) -> bool:
            if shard.lane is not None and this.queue_is_down:
                return True
            return self.clock() >= until or acted[shard.lane] >= most

        while shards:
            shard = shards.popleft()
            if is_over(shard):
                this.counts["unfinished"] += 1
                continue
            try:
                page = shard.read(shard.after)
            except DependencyUnavailable as error:
                this.refused(error)
                continue
            this.refusals = 0
            for ref in page.refs:
                if is_over(shard):
                    this.counts["unfinished"] += 1
                    break
                acted[shard.lane] += self._try(shard.act, ref, this)
            else:
                if page.after is not None:
                    shard.after = page.after
                    shards.append(shard)

    def _try(self, act: Callable[[JobRef, _Pass], str | None], ref: JobRef, this: _Pass) -> bool:
        """Act on one job; return whether there was work. Its failure doesn't affect other jobs."""
        try:
            done = act(ref, this)
        except (LeaseLost, SubmissionRaced):
            done = "raced"
        except DependencyUnavailable as error:
            this.refused(error)
            return True
        except Exception as error:  # a row or a kind that this release can't read
            facts = {"job_id": ref.job_id, "error_type": type(error).__name__}
            first = (
                type(error) not in this.met
            )  # one stack is enough; there may be thousands of errors
            this.met.add(type(error))
            logger.error("sweep_failed", extra=facts, exc_info=error if first else None)
            done = "failed"
        this.refusals = 0
        if done is not None:
            this.counts[done] += 1
        return done is not None

    def _send(self, job: Job, now: datetime, this: _Pass) -> bool:
        """Return whether the job's message was sent.

        False also while the queue is down, and for a kind of a newer release, before a roll-back.
        """
        if this.queue_is_down or job.kind not in self.kinds:
            return False
        try:
            self.queue.send(lane_of(self.kinds, job), [job.ref], delay_of(job, now))
        except DependencyUnavailable as error:
            self._lose_queue(error, this)
            return False
        return True

    def _lose_queue(self, error: DependencyUnavailable, this: _Pass) -> None:
        this.queue_is_down = True
        this.counts["failed"] += 1
        logger.warning("sweep_refused", extra={"reason": error.message})

    # ------------------------------------------------------------ Waking

    def _wake_all(self, this: _Pass) -> None:
        first = int(this.begun.timestamp() // 60)  # start with another shard every minute
        numbers = [(first + n) % limits.WAKE_SHARDS for n in range(limits.WAKE_SHARDS)]
        shards = deque(self._wake_shard(number, this.begun) for number in numbers)
        self._walk(shards, this, limits.SWEEP_WAKE_SECONDS, limits.SWEEP_WAKES)

    def _wake_shard(self, number: int, until: datetime) -> _Shard:
        def read(after: DuePosition | None) -> DuePage:
            return self.store.to_wake(number, until, limits.SWEEP_PAGE, after)

        return _Shard(read=read, act=self._wake)

    def _wake(self, ref: JobRef, this: _Pass) -> str | None:
        job = self.store.get(ref)
        now = self.clock()
        wake_at = rules.wake_at(job) if job else None
        if job is None or wake_at is None or wake_at > now:
            return None  # the index lags behind the row
        this.latest = max(this.latest, now - wake_at)
        if rules.awaits_children(job) or rules.has_children_to_cancel(job):
            self.look_at_parent(job)
            return "parents"
        return self._wake_single(job, now, this)

    def _wake_single(self, job: Job, now: datetime, this: _Pass) -> str | None:
        """Act on a job that awaits no children and has none to cancel."""
        if job.status is JobStatus.RUNNING:
            after = reclaim(self.store, job, now)
            if after.status is JobStatus.PENDING:
                self._send(after, now, this)
            return "leases_expired"
        if job.status is JobStatus.PAUSED:
            return self._look_at_rest(job, now, this)
        if job.expires_at is not None and job.expires_at <= now:
            return self._end(job, now, this)
        if not self._send(job, now, this):
            return None
        self.store.transition(job, rules.sent(job, now))
        return "sent"

    def _look_at_rest(self, job: Job, now: datetime, this: _Pass) -> str:
        """Resume a child that stopped because its parent was paused, unless it still is.

        Enough time has passed for the index of children to show it as paused; a later resume of
        the parent finds it there.
        """
        assert job.parent is not None  # only a child stops with its parent
        parent = self.store.get(JobRef(tenant=job.tenant, job_id=job.parent))
        if parent is not None and parent.status is JobStatus.PAUSED:
            self.store.transition(job, rules.rest_checked(job), parent=parent)
            return "rests"
        after = rules.resume(job, now)
        event = rules.status_event(after, now, run=after.run, reason="PARENT_RESUMED")
        self.store.transition(job, after, [event], parent=parent)
        self._send(after, now, this)
        return "resumed"

    def _end(self, job: Job, now: datetime, this: _Pass) -> str:
        """Expire a waiting job, or make it due for a last look."""
        kind = self.kinds.get(job.kind)
        has_begun = job.started_at is not None and not job.ending
        if kind is None or not kind.looks_before_expiry or not has_begun:
            after = rules.expire(job, now)
            self.store.transition(job, after, [rules.status_event(after, now, run=after.run)])
            return "expired"
        assert kind.pending_seconds is not None  # otherwise its jobs don't expire
        after = rules.last_look(job, now, kind.pending_seconds)
        self.store.transition(job, after, [rules.status_event(after, now, reason="LAST_LOOK")])
        self._send(after, now, this)
        return "last_looks"

    # ------------------------------------------------------------ Resending

    def _resend_all(self, this: _Pass) -> None:
        lanes: defaultdict[Lane, list[ResendShard]] = defaultdict(list)
        for name, kind in sorted(self.kinds.items()):
            for priority, lane in kind.lanes.items():
                for number in range(limits.RESEND_SHARDS):
                    lanes[lane].append(ResendShard(name, priority, number))
        shards: deque[_Shard] = deque()
        for lane, parts in lanes.items():
            lost = self._lost(lane, this)
            if lost is not None:
                shards += [self._resend_shard(lane, part, lost) for part in parts]
        shards.rotate(int(this.begun.timestamp() // 60))
        self._walk(shards, this, limits.SWEEP_SECONDS, limits.SWEEP_RESENDS)

    def _lost(self, lane: Lane, this: _Pass) -> _Lost | None:
        """Return which messages count as lost; None if the queue is down.

        In a lane with a backlog, unclaimed jobs are probably still queued. Since the lane may never
        run empty, very old messages are sent again all the same. In an empty lane, every message
        sent before the last pass is lost. A lane with many messages in flight isn't empty: its
        workers may fail before they claim, and then the messages return.
        """
        if this.queue_is_down:
            return None
        try:
            backlog = self.queue.backlog(lane)
        except DependencyUnavailable as error:
            self._lose_queue(error, this)
            return None
        metrics.depth_of(lane).add(backlog.waiting)
        if backlog.waiting > limits.LANE_BACKLOG_MESSAGES:
            return _Lost(until=this.begun - timedelta(seconds=limits.BACKLOG_RESEND_SECONDS))
        if backlog.waiting or backlog.in_flight > limits.LANE_BACKLOG_MESSAGES:
            return _Lost(until=this.begun, moment=rules.spaced_resend_at)
        return _Lost(until=this.begun)

    def _resend_shard(self, lane: Lane, part: ResendShard, lost: _Lost) -> _Shard:
        def read(after: DuePosition | None) -> DuePage:
            return self.store.to_resend(part, lost.until, limits.SWEEP_PAGE, after)

        def act(ref: JobRef, this: _Pass) -> str | None:
            return self._resend(ref, lost, this)

        return _Shard(read=read, act=act, lane=lane)

    def _resend(self, ref: JobRef, lost: _Lost, this: _Pass) -> str | None:
        """Send first, then count, so that an unsent message isn't waited for."""
        job = self.store.get(ref)
        moment = lost.moment(job) if job else None
        if job is None or moment is None or moment > lost.until:
            return None  # may be queued, or the index lags behind the row
        now = self.clock()
        if not self._send(job, now, this):
            return None
        self.store.transition(job, rules.resent(job, now))
        return "resent"

"""The kernel under load: full lanes, a limited number of pollers, and measured waits.

The real worker, sweeper and submission code run over the one fake store in simulated time. Unlike
in `world`, a call is no separate step: a worker makes its calls at one moment, and then its poller
is busy for a while. A pass of the sweeper has a clock that every call advances.
"""

import heapq
import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from spinneret.jobs import limits as jobs_limits
from spinneret.jobs import rules
from spinneret.jobs.ends import is_reported, relaying
from spinneret.jobs.models import (
    Backlog,
    Draft,
    Job,
    JobEvent,
    JobRef,
    JobStatus,
    Lane,
    Priority,
    Reply,
)
from spinneret.jobs.ports import DuePage, DuePosition
from spinneret.jobs.publishing import PublishingJobStore
from spinneret.jobs.service import JobService
from spinneret.jobs.sweeper import Sweeper, SweepResult
from spinneret.jobs.worker import Context, Defer, Worker
from spinneret.kernel.errors import FetchTimeout
from spinneret.outbox import limits as outbox_limits
from spinneret.outbox.models import DomainEvent
from spinneret.outbox.ports import DueSubjectPage, Position, RelayEvents
from spinneret.outbox.relay import Relay
from tests.fakes.crashes import Crash
from tests.fakes.jobs import DueIndex, FakeJobStore, no_parent
from tests.fakes.outbox import FakeOutboxStore
from tests.fakes.time import START
from tests.kinds import CRAWL_LOW, CRAWL_NORMAL, KINDS
from tests.simulation.loads import Load, small_load

TENANT: Final = "acme"
HOST: Final = "busy.example"
HOST_GAP: Final = 20.0
LATE_MAX: Final = 90.0  # end of a wait, return of an ended lease, swept event after its grace
REPLACED_MAX: Final = 120.0  # for a lost message, since its lane became empty
UNPUBLISHED: Final = 0.1  # share of ends whose writer dies before it relays the event
MESSAGES_MAX: Final = 2.0  # per job, on average
PASS_SECONDS: Final = 60.0
PASS_SLACK: Final = 5.0  # time for the calls of one job and of the lanes
SAMPLE_SECONDS: Final = 20.0
LONG_WAIT: Final = 1200.0
TIMEOUT: Final = 60.0
LONGEST: Final = 14 * 24 * 3600.0
MONTH: Final = 31 * 24 * 3600.0


@dataclass(frozen=True, kw_only=True)
class CapacityReport:
    """Measurements of one run."""

    jobs: int
    messages: int
    longest_lane: int
    wait_late: float
    lease_late: float
    replaced_late: float
    event_late: float
    """Greatest delay of an event in seconds, after the grace in which its writer may relay it."""
    longest_pass: float
    most_calls: int
    violations: tuple[str, ...]


class _LaggingIndex(DueIndex):
    """Shows writes of rows in the indexes later, in the order of the writes."""

    def __init__(self, now: Callable[[], float], lag: float) -> None:
        super().__init__()
        self._now = now
        self._lag = lag
        self._behind: deque[tuple[float, JobRef, Job | None]] = deque()

    def put(self, ref: JobRef, job: Job | None) -> None:
        """See DueIndex."""
        self._behind.append((self._now() + self._lag, ref, job))

    def page(
        self, partition: str, until: datetime, limit: int, after: DuePosition | None
    ) -> DuePage:
        """See DueIndex."""
        while self._behind and self._behind[0][0] <= self._now():
            _, ref, job = self._behind.popleft()
            super().put(ref, job)
        return super().page(partition, until, limit, after)


class _LaggingOutbox:
    """Implements OutboxStore; its wake index lags behind the rows."""

    def __init__(self, outbox: FakeOutboxStore, lag: float) -> None:
        self.pending = outbox.pending
        self.postpone = outbox.postpone
        self.close = outbox.close
        self._outbox = outbox
        self._lag = timedelta(seconds=lag)

    def to_wake(
        self, shard: int, until: datetime, limit: int, after: Position | None
    ) -> DueSubjectPage:
        """See OutboxStore."""
        return self._outbox.to_wake(shard, until - self._lag, limit, after)


class _Lane:
    """One queue and its pollers."""

    def __init__(self) -> None:
        self.visible: deque[JobRef] = deque()
        self.busy = 0
        self.samples = deque([Backlog(waiting=0, in_flight=0)], maxlen=3)
        self.empty_since: float | None = 0.0
        self.longest = 0


SweeperOf = Callable[..., Sweeper]
RelayOf = Callable[..., Relay]


class Capacity:
    """One run, and its only sink; tests pass a faulty `sweeper_of`, `store` or `relay_of`."""

    name = "sink"

    def __init__(
        self,
        seed: int,
        load: Load | None = None,
        sweeper_of: SweeperOf = Sweeper,
        store: FakeJobStore | None = None,
        relay_of: RelayOf = Relay,
    ) -> None:
        self.rng = Random(seed)
        self._deaths = Random(f"deaths of {seed}")
        """Random source for the deaths of writers; separate: changes no other choice of a seed."""
        self.load = load or small_load(self.rng)
        self.now = 0.0
        self.offset = 0.0
        """Seconds from `now` to the current moment of a pass."""
        self.store = store or FakeJobStore()
        self.store.index = _LaggingIndex(self._moment, self.load.index_lag)
        self.lanes: defaultdict[Lane, _Lane] = defaultdict(_Lane)
        self.lost: dict[JobRef, float] = {}
        """Jobs whose last message was lost → the time at which it was due."""
        self.waits: dict[JobRef, float] = {}
        self.ends: dict[JobRef, float] = {}
        """Times at which the leases of dead workers end."""
        self.unpublished: dict[JobRef, float] = {}
        """End times of the jobs whose end no sink has received yet."""
        self.reserved: Counter[JobRef] = Counter()
        self.refs: list[JobRef] = []
        self.figures: Counter[str] = Counter()
        self.worst: defaultdict[str, float] = defaultdict(float)
        self.violations: list[str] = []
        self._next_slot = 0.0
        self._over = False
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._sweeper_of = sweeper_of
        self._relay_of = relay_of
        self._outbox = _LaggingOutbox(self.store.outbox, self.load.index_lag)
        relay = relay_of(self._outbox, [self], self.clock)
        self._relaying = relaying(KINDS, self._dying(relay.relay))
        self._service = JobService(
            store=self.store, queue=self, kinds=KINDS, clock=self.clock, new_id=self._new_id
        )
        self._worker = Worker(
            store=PublishingJobStore(self.store, self._listen, self._relaying),
            queue=self,
            kinds=KINDS,
            handlers={"crawl": self._handle},
            clock=self.clock,
            random=self.rng.random,
            new_owner=lambda: self._new_id("owner"),
        )

    # ------------------------------------------------------------ Running

    def run(self) -> CapacityReport:
        """Run until every job has ended, then purge everything; return the measurements."""
        for number in range(self.load.jobs):
            self.after(number * 60.0 / self.load.per_minute, self._submit)
        self.after(self.rng.uniform(0.0, PASS_SECONDS), self._pass)
        self.after(0.0, self._sample)
        while self._events and not self.violations:
            self.now, _, action = heapq.heappop(self._events)
            action()
        self._check_end()
        return CapacityReport(
            jobs=len(self.refs),
            messages=self.figures["messages"],
            longest_lane=max((lane.longest for lane in self.lanes.values()), default=0),
            wait_late=self.worst["wait"],
            lease_late=self.worst["lease"],
            replaced_late=self.worst["replaced"],
            event_late=self.worst["event"],
            longest_pass=self.worst["pass"],
            most_calls=int(self.worst["calls"]),
            violations=tuple(self.violations),
        )

    def clock(self) -> datetime:
        """Return the simulated time, also within a pass."""
        return START + timedelta(seconds=self._moment())

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Schedule an action."""
        heapq.heappush(self._events, (self.now + seconds, next(self._numbers), action))

    def _moment(self) -> float:
        return self.now + self.offset

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers):07d}"

    def _is_settled(self) -> bool:
        if len(self.refs) < self.load.jobs or self.unpublished:
            return False
        rows = (self.store.get(ref) for ref in self.refs)
        return all(job is not None and job.status in rules.TERMINAL for job in rows)

    # ------------------------------------------------------------ The queue

    def send(self, lane: Lane, refs: Sequence[JobRef], delay_seconds: int = 0) -> None:
        """See JobQueue."""
        for ref in refs:
            self.figures["messages"] += 1
            self._replaced(ref, lane)
            if self.rng.random() < self.load.lost:
                self.lost[ref] = self._moment() + delay_seconds
                self.waits.pop(ref, None)
                continue
            flight = self.offset + delay_seconds + self.rng.uniform(0.01, 1.0)
            self.after(flight, lambda ref=ref: self._arrive(lane, ref))  # type: ignore[misc]
            if self.rng.random() < self.load.late_copies:
                late = flight + self.rng.uniform(300.0, 900.0)
                self.after(late, lambda ref=ref: self._arrive(lane, ref))  # type: ignore[misc]

    def backlog(self, lane: Lane) -> Backlog:
        """See JobQueue; the numbers are up to a minute old."""
        self._cost()
        return self.rng.choice(self.lanes[lane].samples)

    def _arrive(self, name: Lane, ref: JobRef) -> None:
        due = self.waits.get(ref)
        if due is not None and self.now >= due:
            self._late("wait", self.waits.pop(ref), LATE_MAX, ref)
        lane = self.lanes[name]
        lane.visible.append(ref)
        lane.longest = max(lane.longest, len(lane.visible))
        lane.empty_since = None
        self._poll(lane)

    def _poll(self, lane: _Lane) -> None:
        while lane.visible and lane.busy < self.load.pollers:
            lane.busy += 1
            ref = lane.visible.popleft()
            worked = self._receive(ref)
            self.after(worked, lambda: self._done(lane))
        if not lane.visible and lane.empty_since is None:
            lane.empty_since = self.now

    def _done(self, lane: _Lane) -> None:
        lane.busy -= 1
        self._poll(lane)

    def _sample(self) -> None:
        for lane in self.lanes.values():
            lane.samples.append(Backlog(waiting=len(lane.visible), in_flight=lane.busy))
        if not self._over:
            self.after(SAMPLE_SECONDS, self._sample)

    # ------------------------------------------------------------ Jobs

    def _submit(self) -> None:
        names = list(self.load.plans)
        [plan] = self.rng.choices(names, [self.load.plans[name] for name in names])
        draft = Draft(
            kind="crawl",
            payload={"plan": plan},
            priority=Priority.LOW if self.rng.random() < 0.1 else Priority.NORMAL,
            duplicate_key=None,
        )

        def answer(placed: Sequence[Any]) -> Reply:
            self.refs += [each.job.ref for each in placed]
            return Reply(status=202, body={})

        self._service.submit(TENANT, [draft], None, answer)

    def _receive(self, ref: JobRef) -> float:
        """Run the job; return how many seconds its poller is busy."""
        before = self.store.get(ref)
        claimable = before is not None and before.status is JobStatus.PENDING
        try:
            self._worker.run(ref, lambda: TIMEOUT)
        except Crash:
            return TIMEOUT
        return self.rng.uniform(0.5, 1.5) * self.load.work_seconds if claimable else 0.05

    def _handle(self, context: Context) -> Mapping[str, Any]:
        job = context.job
        self.lost.pop(job.ref, None)
        self.waits.pop(job.ref, None)
        first = context.lease.fence == 1
        match job.payload["plan"]:
            case "waits" if first:
                self._defer(job, self.now + LONG_WAIT * self.rng.uniform(0.5, 3.0), "a limit")
            case "dies" if first:
                assert job.locked_until is not None
                self.ends[job.ref] = (job.locked_until - START).total_seconds()
                raise Crash("worker lost")
            case "fails" if first:
                raise FetchTimeout("slow", retry_after=self.rng.choice([5.0, 1500.0]))
            case "host" if job.waiting_for != HOST:
                self._reserve(job)
        return {}

    def _reserve(self, job: Job) -> None:
        """Reserve a slot at a busy host; a second reservation for the same wait is a violation."""
        self.reserved[job.ref] += 1
        if self.reserved[job.ref] > 1:
            self.violations.append(f"{job.id}: reserved the same wait twice")
        slot = max(self.now, self._next_slot)
        self._next_slot = slot + HOST_GAP
        if slot > self.now:
            self._defer(job, slot, HOST)

    def _defer(self, job: Job, until: float, what: str) -> None:
        self.waits[job.ref] = until
        raise Defer(START + timedelta(seconds=until), what)

    def _listen(self, job: Job, events: Sequence[JobEvent]) -> None:
        """Record lost leases and ends."""
        if is_reported(job, KINDS):
            self.unpublished[job.ref] = self._moment()
        if any(event.data.get("reason") == "LEASE_EXPIRED" for event in events):
            self._late("lease", self.ends.pop(job.ref), LATE_MAX, job.ref)

    # ------------------------------------------------------------ Notifications

    def take(self, event: DomainEvent) -> None:
        """See Sink."""
        ref = JobRef(tenant=event.tenant, job_id=event.subject)
        ended = self.unpublished.pop(ref, None)
        if ended is not None and self._moment() > ended:
            self._late("event", ended + outbox_limits.OUTBOX_GRACE_SECONDS, LATE_MAX, ref)

    def _dying(self, relay_events: RelayEvents) -> RelayEvents:
        """Wrap the relay so that some writers die after their commit."""

        def handing(tenant: str, subject: str) -> None:
            if self._deaths.random() >= UNPUBLISHED:
                relay_events(tenant, subject)

        return handing

    # ------------------------------------------------------------ The sweeper

    def _pass(self) -> None:
        self._over = self._is_settled()
        if self._over or self.now > LONGEST:
            return
        self._sweep()
        self.offset = 0.0
        self._check_lost()
        self._check_unpublished()
        self.after(PASS_SECONDS, self._pass)

    def _sweep(self) -> SweepResult:
        calls = self.figures["calls"]
        sweeper = self._sweeper_of(
            store=PublishingJobStore(_Costly(self.store, self._cost), self._listen, self._relaying),
            queue=_Costly(self, self._cost),
            kinds=KINDS,
            clock=self.clock,
            look_at_parent=no_parent,
        )
        swept = sweeper.sweep()
        self.worst["pass"] = max(self.worst["pass"], self.offset)
        if self.offset > jobs_limits.SWEEP_SECONDS + PASS_SLACK:
            self.violations.append(f"a pass of {self.offset:.0f} s")
        outbox, sink = _Costly(self._outbox, self._relay_cost), _Costly(self, self._relay_cost)
        self._relay_of(outbox, [sink], self.clock).sweep()
        self.worst["calls"] = max(self.worst["calls"], self.figures["calls"] - calls)
        return swept

    def _cost(self) -> None:
        self.offset += self.load.call_seconds
        self.figures["calls"] += 1

    def _relay_cost(self) -> None:
        """Count a call of the relay; a sweep relays several subjects at a time."""
        self.offset += self.load.call_seconds / outbox_limits.OUTBOX_RELAYS
        self.figures["calls"] += 1

    # ------------------------------------------------------------ Checks

    def _late(self, what: str, due: float, most: float, ref: JobRef) -> None:
        late = self._moment() - due
        self.worst[what] = max(self.worst[what], late)
        if late > most:
            self.violations.append(f"{ref.job_id}: {what} {late:.0f} s late")

    def _replaced(self, ref: JobRef, lane: Lane) -> None:
        since = self.lost.pop(ref, None)
        empty = self.lanes[lane].empty_since
        if since is not None and empty is not None:
            self.worst["replaced"] = max(self.worst["replaced"], self._moment() - max(since, empty))

    def _check_lost(self) -> None:
        for ref, since in self.lost.items():
            job = self.store.get(ref)
            if job is None or job.status is not JobStatus.PENDING:
                continue
            empty = self.lanes[CRAWL_LOW if job.priority is Priority.LOW else CRAWL_NORMAL]
            if empty.empty_since is None:
                continue
            late = self.now - max(since, empty.empty_since)
            if late > REPLACED_MAX:
                self.violations.append(f"{ref.job_id}: message lost {late:.0f} s ago")

    def _check_unpublished(self) -> None:
        for ref, ended in self.unpublished.items():
            late = self.now - ended - outbox_limits.OUTBOX_GRACE_SECONDS
            if late > LATE_MAX:
                self.violations.append(f"{ref.job_id}: its end is handed on {late:.0f} s late")

    def _check_end(self) -> None:
        if self.violations:
            return
        if not self._is_settled():
            self.violations.append("some jobs wait for ever")
        share = self.figures["messages"] / max(1, len(self.refs))
        large = self.load.jobs >= 1000  # a few jobs that all wait need more
        if large and share > MESSAGES_MAX:
            self.violations.append(f"{share:.2f} messages per job")
        self.now += MONTH
        self.store.purge(self.clock())
        rest = [ref for ref in self.refs if self.store.get(ref) is not None]
        if rest or self._sweep() != SweepResult():
            self.violations.append("something is left after all was purged")


class _Costly:
    """A port on which every call takes some time of the pass."""

    def __init__(self, port: Any, cost: Callable[[], None]) -> None:
        self._port = port
        self._cost = cost

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._port, name)

        def costly(*given: Any, **named: Any) -> Any:
            self._cost()
            return call(*given, **named)

        return costly

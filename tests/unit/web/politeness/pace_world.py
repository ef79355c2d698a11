"""Simulation of workers, one host and time: every call of the ledger is one step of the world.

A seed determines the order of the workers' steps, the errors of their clocks, their crashes, the
lost answers and the duration of requests. Events are recorded in true time (microseconds), for the
rules in the tests.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.web import limits
from spinneret.web.politeness.changes import ConditionalUpdate, Row
from spinneret.web.politeness.models import HostOutcome, PaceLimits, Permit, Record, Wait
from spinneret.web.politeness.ports import Refused, Written
from spinneret.web.politeness.service import HostRateLimiter
from tests.fakes.crashes import Crash
from tests.fakes.politeness import FakeHostStateStore
from tests.fakes.time import START
from tests.simulation.turnstile import Actor, Role

HOST: Final = "site.example"
SECOND: Final = 1_000_000
STEPS_MAX: Final = 50_000
REQUEST_MAX_SECONDS: Final = 25.0


@dataclass(frozen=True, kw_only=True)
class WorldConfig:
    """Workers, rate limits and faults of a world."""

    stage: PaceLimits
    paces: tuple[PaceLimits, ...]
    """Rate limits of the workers, one worker for each."""
    requests: int = 4
    """Requests of each worker."""
    skew_seconds: float = 0.0
    """Maximum by which a worker's clock is ahead or behind."""
    crashes: float = 0.0
    """Probability of a crash, per call and per request; another worker then takes over the work."""
    lost: float = 0.0
    """Probability of a lost answer, per call."""
    down_until: float = 0.0
    """Seconds from the start during which the host fails every request."""
    retry_afters: float = 0.0
    """Probability of a response with Retry-After."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Admission whose answer reached its worker; times are true times in microseconds."""

    at: int
    """Time of the call that was admitted."""
    pace: PaceLimits
    waited: int
    """Microseconds since the worker's first call for this request."""


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """Request as the host received it; times are true times in microseconds."""

    at: int
    admitted_at: int
    pace: PaceLimits


@dataclass
class RunLog:
    """Record of a run."""

    asked: list[Asked] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    spread: int = 0
    """Largest difference between two workers' clocks, in microseconds."""
    probes: int = 0
    most_probes: int = 0
    """Largest number of probes in flight at the same time."""
    dead_probers: int = 0
    crashes: int = 0
    retry_afters: int = 0
    openings: int = 0
    ended_at: int = 0
    finished: int = 0
    """Number of completed requests."""


class PaceWorld:
    """Simulation of one world."""

    def __init__(self, seed: int, weather: WorldConfig, threads: Executor) -> None:
        self.weather = weather
        self.rng = Random(seed)
        self.now = 0
        self.log = RunLog()
        self.ledger = FakeHostStateStore()
        self._threads = threads
        self._actors: list[Actor] = []
        self._skews: list[int] = []
        self._names = 0

    def run(self) -> RunLog:
        """Run until every worker has ended. Raises AssertionError after STEPS_MAX steps."""
        for pace in self.weather.paces:
            self._start(pace, self.weather.requests)
        steps = 0
        while self._actors:
            steps += 1
            assert steps < STEPS_MAX, "the world doesn't come to rest"
            first = min(actor.ready_at for actor in self._actors)
            self.now = max(self.now, first)
            ready = [actor for actor in self._actors if actor.ready_at <= self.now]
            self._move(self.rng.choice(ready))
        self.log.ended_at = self.now
        self.log.spread = max(self._skews) - min(self._skews)
        return self.log

    def clock_of(self, actor: Actor) -> Clock:
        """Return the clock of an actor: true time plus the actor's skew."""
        return lambda: START + timedelta(microseconds=self.now) + actor.skew

    def sleep(self, actor: Actor, microseconds: int) -> None:
        """Suspend the actor that calls this."""
        actor.ready_at = self.now + max(microseconds, 0)
        actor.park()

    def seconds(self, most: float) -> int:
        """Return a random duration of up to `most` seconds, in microseconds."""
        return round(self.rng.uniform(0, most) * SECOND)

    def happens(self, chance: float) -> bool:
        """Return True with this probability."""
        return self.rng.random() < chance

    def _start(self, pace: PaceLimits, requests: int) -> None:
        skew = timedelta(seconds=self.rng.uniform(-1, 1) * self.weather.skew_seconds)
        self._skews.append(round(skew.total_seconds() * SECOND))
        self._names += 1
        worker = _Worker(self, pace, requests)
        actor = Actor(f"worker-{self._names}", Role.WORKER, skew, lambda: worker.work(actor))
        actor.ready_at = self.now + self.seconds(2)
        self._actors.append(actor)
        worker.on_death = lambda left: self._start(pace, left)

    def _move(self, actor: Actor) -> None:
        actor.move(self._threads)
        if not actor.ended:
            return
        self._actors.remove(actor)
        if actor.ended_by is not None and not isinstance(actor.ended_by, Crash):
            raise actor.ended_by


class _Worker:
    """Worker that sends its requests one after the other, as the product's workers do."""

    def __init__(self, world: PaceWorld, pace: PaceLimits, requests: int) -> None:
        self.on_death: Callable[[int], None] = lambda _: None
        self._world = world
        self._pace = pace
        self._left = requests
        self._probes = False

    def work(self, actor: Actor) -> None:
        world, log = self._world, self._world.log
        service = HostRateLimiter(
            ledger=_SteppedLedger(world, actor),
            clock=world.clock_of(actor),
            new_token=lambda: f"{actor.name}-{world.rng.random()}",
            stage=world.weather.stage,
        )
        try:
            while self._left:
                permit = self._admission(service, actor)
                self._request(service, actor, permit)
                self._left -= 1
                log.finished += 1
        except Crash:
            log.crashes += 1
            if self._probes:
                log.probes -= 1
                log.dead_probers += 1
            self.on_death(self._left)
            raise

    def _admission(self, service: HostRateLimiter, actor: Actor) -> Permit:
        world = self._world
        since, reserved = world.now, False
        while True:
            asked_at = world.now
            outcome = service.admit(HOST, owner=actor.name, limits=self._pace, reserved=reserved)
            if isinstance(outcome, Permit):
                log = Asked(at=asked_at, pace=self._pace, waited=world.now - since)
                world.log.asked.append(log)
                return outcome
            reserved = outcome.reserved
            world.sleep(actor, self._until(actor, outcome))

    def _until(self, actor: Actor, wait: Wait) -> int:
        """Return the microseconds until the wait ends by the worker's own clock, rounded down."""
        clock: datetime = self._world.clock_of(actor)()
        return (wait.until - clock) // timedelta(microseconds=1)

    def _request(self, service: HostRateLimiter, actor: Actor, permit: Permit) -> None:
        world, log = self._world, self._world.log
        admitted_at = world.now
        if permit.probe:
            self._probes = True
            log.probes += 1
            log.most_probes = max(log.most_probes, log.probes)
        slow = REQUEST_MAX_SECONDS if world.happens(0.05) else 1.0
        world.sleep(actor, world.seconds(slow / 2))
        log.arrivals.append(Arrival(at=world.now, admitted_at=admitted_at, pace=self._pace))
        works = world.now >= world.weather.down_until * SECOND
        if world.happens(world.weather.crashes):
            raise Crash("while it asked")
        world.sleep(actor, world.seconds(slow / 2))
        retry_after = None
        if world.happens(world.weather.retry_afters):
            log.retry_afters += 1
            retry_after = world.rng.choice([1.0, 5.0, 60.0])
        opened_before = world.ledger.read(HOST, Record.PACE).get("opened_at")
        outcome = HostOutcome.SUCCESS if works else HostOutcome.HOST_FAILURE
        service.report(permit, outcome, retry_after=retry_after)
        opened = world.ledger.read(HOST, Record.PACE).get("opened_at")
        log.openings += opened is not None and opened != opened_before
        if permit.probe:
            self._probes = False
            log.probes -= 1


class _SteppedLedger:
    """Implements HostStateStore for one actor."""

    def __init__(self, world: PaceWorld, actor: Actor) -> None:
        self._world = world
        self._actor = actor

    def read(self, host: str, record: Record) -> Row:
        return self._world.ledger.read(host, record)

    def update(self, host: str, record: Record, change: ConditionalUpdate) -> Written | Refused:
        world, weather = self._world, self._world.weather
        world.sleep(self._actor, world.seconds(0.02))
        if world.happens(weather.crashes / 2):
            raise Crash("before a call")
        answer = world.ledger.update(host, record, change)
        if world.happens(weather.crashes / 2):
            raise Crash("after a call")
        if world.happens(weather.lost):
            world.sleep(self._actor, world.seconds(1.0))
            answer = world.ledger.update(host, record, change)
        world.sleep(self._actor, world.seconds(0.02))
        return answer


def lease_us() -> int:
    """Return the microseconds for which a caller that died keeps its leases."""
    return round(limits.HOST_LEASE_SECONDS * SECOND)

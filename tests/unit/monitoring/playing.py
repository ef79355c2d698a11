"""Monitoring in simulated time: a rule, a queue with delays, and concurrent processes.

A process is a thread that runs only when its time comes (`simulation.turnstile`), so that a run is
deterministic. A request takes simulated time; stores respond at once.
"""

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from spinneret.kernel.errors import FetchTimeout
from spinneret.monitoring import limits
from spinneret.monitoring.checks.worker import CheckWorker
from spinneret.monitoring.due.models import DueTarget, Planned
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.politeness.models import PaceLimits
from tests.fakes.checking import TIMEOUT, CheckWorld, Sites
from tests.fakes.time import HandClock
from tests.simulation.turnstile import Actor, Role

DELIVERY_SECONDS = 1.0
"""Maximum time between the end of a message's delay and its arrival."""
RULE_SECONDS = 5.0
"""Maximum delay of a rule."""


class SharedClock(HandClock):
    """The clock of all processes; a process that advances it waits for its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.mover: Callable[[float], None] | None = None

    def advance(self, seconds: float) -> datetime:
        """Let the other processes run for `seconds`."""
        if self.mover is None:
            return super().advance(seconds)
        self.mover(seconds)
        return self.now


class SlowSites(Sites):
    """Sites with URLs that never respond."""

    def __init__(self, clock: HandClock) -> None:
        super().__init__(clock)
        self.hanging: set[str] = set()

    def fetch(self, request: FetchRequest) -> FetchedPage:
        if request.url.text in self.hanging:
            with self._visit(request.url.host):
                self.clock.advance(TIMEOUT)
            raise FetchTimeout("no answer")
        return super().fetch(request)


class DelayedLane:
    """A CheckLane whose messages arrive within a second, a few of them twice or never."""

    def __init__(self, arrive: Callable[[datetime, Planned], None], chance: random.Random) -> None:
        self._arrive = arrive
        self._chance = chance
        self.lost = self.doubled = 0

    def send(self, planned: Sequence[Planned]) -> None:
        for each in planned:
            times = self._chance.choices((1, 2, 0), (0.998, 0.001, 0.001))[0]
            self.lost += times == 0
            self.doubled += times == 2
            for _ in range(times):
                late = timedelta(seconds=DELIVERY_SECONDS * self._chance.random())
                self._arrive(each.at + late, each)


@dataclass(order=True)
class _Event:
    at: datetime
    number: int
    act: Callable[[], None] = field(compare=False)


class Playing:
    """A world whose rule, queue and eight processes run by themselves."""

    def __init__(self, seed: int, limits_of_hosts: PaceLimits) -> None:
        self.clock = SharedClock()
        self.world = CheckWorld(self.clock, limits=limits_of_hosts)
        self.sites = self.world.sites = SlowSites(self.clock)
        self.chance = random.Random(seed)
        self._events: list[_Event] = []
        self._numbers = itertools.count()
        self._waiting: deque[Sequence[DueTarget]] = deque()
        self._moving: Actor | None = None
        self.lane = self.world.lane = DelayedLane(  # type: ignore[assignment]  # same port
            self._arrives, self.chance
        )
        self._inboxes: dict[Actor, Sequence[DueTarget]] = {}
        self._idle = [self._process(number) for number in range(limits.CHECK_CONCURRENCY)]
        self.each_tick: Callable[[], None] = lambda: None

    def play(self, seconds: float) -> None:
        """Let `seconds` pass; this works only once, because it ends the processes."""
        end = self.clock.now + timedelta(seconds=seconds)
        self.clock.mover = self._pause
        self._at(self.clock.now, self._tick)
        with ThreadPoolExecutor(limits.CHECK_CONCURRENCY) as threads:
            self._threads = threads
            while self._events and self._events[0].at <= end:
                event = heapq.heappop(self._events)
                self.clock.now = max(self.clock.now, event.at)
                event.act()
            for each in [*self._idle, *(actor for actor in self._inboxes)]:
                each.doomed = True
                each.move(threads)
        self.clock.mover = None

    def _at(self, at: datetime, act: Callable[[], None]) -> None:
        heapq.heappush(self._events, _Event(at, next(self._numbers), act))

    def _tick(self) -> None:
        self.world.tick().run()
        self.each_tick()
        late = timedelta(seconds=60 + RULE_SECONDS * (self.chance.random() - 0.5))
        self._at(self.clock.now + late, self._tick)

    def _arrives(self, at: datetime, planned: Planned) -> None:
        self._at(max(at, self.clock.now), lambda: self._begin(planned.checks))

    def _begin(self, checks: Sequence[DueTarget]) -> None:
        if not self._idle:
            self._waiting.append(checks)
            return
        actor = self._idle.pop()
        self._inboxes[actor] = checks
        self._move(actor)

    def _move(self, actor: Actor) -> None:
        self._moving = actor
        actor.move(self._threads)
        if actor.ended_by is not None:
            raise actor.ended_by

    def _pause(self, seconds: float) -> None:
        """Let the other processes run until the calling process's time comes."""
        actor = self._moving
        assert actor is not None
        self._at(self.clock.now + timedelta(seconds=seconds), lambda: self._move(actor))
        actor.park()

    def _process(self, number: int) -> Actor:
        worker: list[CheckWorker] = []

        def body() -> None:
            worker.append(self.world.worker(fetcher=self.sites))
            while True:
                worker[0].run(self._inboxes[actor], lambda: 900.0)
                while self._waiting:
                    worker[0].run(self._waiting.popleft(), lambda: 900.0)
                del self._inboxes[actor]
                self._idle.append(actor)
                actor.park()

        actor = Actor(f"worker {number}", Role.WORKER, timedelta(), body)
        return actor

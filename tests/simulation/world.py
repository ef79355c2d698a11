"""Simulated time, the scheduler, and the store and queue, on which every call is one step."""

import heapq
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final

from spinneret.jobs.models import JobRef
from spinneret.jobs.ports import JobAmended, SubmissionRaced
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from tests.fakes.crashes import Crash
from tests.fakes.effects import FakeEffectStore
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START
from tests.simulation.faults import HELD, CallOutcome, Faults
from tests.simulation.invariants import Invariants
from tests.simulation.lagging import PastRows
from tests.simulation.policies import POLICIES
from tests.simulation.turnstile import Actor, Role

SECOND: Final = 1_000_000  # the unit of the world's time is the microsecond
STEPS_MAX: Final = 20_000  # above this, the world counts as never coming to rest
_TRANSACTIONS: Final = frozenset(
    {
        "store.submit",
        "store.amend",
        "store.transition",
        "store.begin_run",
        "store.add_children",
        "store.commit",
        "store.record",
        "store.begin_effect",
        "store.finish_effect",
    }
)
_STEP_MAX: Final = 20_000  # one call takes up to 20 ms


@dataclass(frozen=True)
class Step:
    """One line of the trace."""

    number: int
    now: int
    actor: str
    call: str
    subject: object
    outcome: object

    def __str__(self) -> str:
        return (
            f"{self.number:5} {self.now / SECOND:12.6f} {self.actor:11} {self.call:16}"
            f" {self.subject} -> {self.outcome}"
        )


class World:
    """Actors, timers and one shared store; `rng` is the only source of randomness."""

    def __init__(
        self,
        rng: Random,
        faults: Faults,
        threads: Executor,
        store: FakeJobStore | None = None,
    ) -> None:
        self.rng = rng
        self.faults = faults
        self.now = 0
        self.store = store or FakeJobStore(POLICIES)
        self.effects = FakeEffectStore(self.store)
        self.performed: set[str] = set()
        """Keys of the effects that the foreign system has performed."""
        self.past = PastRows()
        self.invariants = Invariants(self.store, self.at_now)
        self.trace: list[Step] = []
        self.counts: Counter[str] = Counter()
        self.actors: list[Actor] = []
        self._threads = threads
        self._timers: list[tuple[int, int, Callable[[], None]]] = []
        self._numbers: Counter[str] = Counter()

    def number(self, what: str) -> int:
        """Return the next number of a kind of thing: 1, 2, 3 …"""
        self._numbers[what] += 1
        return self._numbers[what]

    def at_now(self) -> datetime:
        """Return the true time."""
        return START + timedelta(microseconds=self.now)

    def clock_of(self, actor: Actor) -> Clock:
        """Return the actor's clock, with its skew."""
        return lambda: self.at_now() + actor.skew

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Schedule an action of the world itself."""
        moment = self.now + round(seconds * SECOND)
        heapq.heappush(self._timers, (moment, self.number("timer"), action))

    def start(self, role: Role, run: Callable[[Actor], None]) -> Actor:
        """Start a process; the scheduler decides when it moves."""
        actor = Actor(f"{role}-{self.number(role)}", role, self.faults.skew(), lambda: run(actor))
        actor.ready_at = self.now
        self.actors.append(actor)
        return actor

    def kill(self, actor: Actor) -> None:
        """End a process where it is, at the latest when it would move next."""
        if not actor.ended and not actor.frozen:
            self.note(actor, "killed", "", "time-out")
            actor.doomed = True
            actor.ready_at = self.now

    def sleep(self, actor: Actor, seconds: float) -> None:
        """Let time pass for an actor that works or waits; the actor itself calls this."""
        actor.ready_at = self.now + round(seconds * SECOND)
        actor.park()

    def call[Answer](
        self, actor: Actor, name: str, effect: Callable[[], Answer], subject: object
    ) -> Answer:
        """Make one call of the store or the queue: an atomic step; anything may happen around it.

        A call that is made twice simulates an SDK that got no answer to its first try.
        """
        self._yield(actor)
        fate = self.faults.fate_of(actor, name)
        self.counts[fate] += 1
        if fate is CallOutcome.UNAVAILABLE:
            self._lose(actor, name, subject, fate)
        if fate is CallOutcome.CRASH_BEFORE:
            self._crash(actor, name, subject, fate)
        held_before = fate in HELD and self.rng.random() < 0.5
        if held_before:
            self._hold(actor, name, subject, fate)
        done = _Done(effect)
        self.note(actor, name, subject, done)
        if fate is CallOutcome.CRASH_AFTER:
            self._crash(actor, name, subject, fate)
        if fate is CallOutcome.ANSWER_LOST:
            self._lose(actor, name, subject, fate)
        if fate is CallOutcome.TWICE:
            self.note(actor, name, subject, fate)
            self.sleep(actor, self.rng.uniform(0.0, 2.0))
            if done.refusal is not None or not _is_transaction(name):
                done = _Done(effect)
            self.note(actor, name, subject, done)
        if fate in HELD and not held_before:
            self._hold(actor, name, subject, fate)
        self._meet(actor, subject)
        return done.answer()

    def wrote(self, *refs: JobRef) -> None:
        """Record that rows were written; the indexes show it later."""
        for ref in refs:
            self.past.wrote(self.now, self.store.get(ref))

    def shown_at(self) -> int:
        """Return the moment whose rows an index shows to a query now."""
        return self.now - round(self.faults.index_lag() * SECOND)

    def note(self, actor: Actor, call: str, subject: object, outcome: object) -> None:
        """Add a step to the trace; its text is built only when the trace is read."""
        number = self.counts["steps"]
        self.trace.append(Step(number, self.now, actor.name, call, subject, outcome))

    def run(self, is_over: Callable[[], bool]) -> None:
        """Move actors and timers until the run is complete or a rule is violated."""
        while not self.invariants.violations:
            if self._timers and self._timers[0][0] <= self.now:
                heapq.heappop(self._timers)[2]()
                continue
            ready = [actor for actor in self.actors if actor.ready_at <= self.now]
            if ready:
                self._move(self.faults.choice(ready))
            elif is_over():
                break
            else:
                moments = [actor.ready_at for actor in self.actors]
                self.now = min([*moments, *(timer[0] for timer in self._timers[:1])])
            if self.counts["steps"] > STEPS_MAX:
                self.invariants.violations.append("the world doesn't come to rest")
        self._end_all()

    def _move(self, actor: Actor) -> None:
        actor.move(self._threads)
        if not actor.ended:
            return
        self.actors.remove(actor)
        error = actor.ended_by
        if isinstance(error, Crash):
            self.counts["crashes"] += 1
        elif error is not None:
            self.invariants.violations.append(f"{actor.name} ended with {error!r}")

    def _end_all(self) -> None:
        for actor in self.actors:
            actor.doomed = True
            while not actor.ended:
                actor.move(self._threads)
        self.actors.clear()

    def _yield(self, actor: Actor) -> None:
        if actor.doomed:
            raise Crash("ended")
        self.counts["steps"] += 1
        self.now += self.rng.randrange(1, _STEP_MAX)
        if not self.faults.stays():
            actor.ready_at = self.now
            actor.park()

    def _hold(self, actor: Actor, name: str, subject: object, fate: CallOutcome) -> None:
        """Delay the request or its answer, or stall the process."""
        self.note(actor, name, subject, fate)
        actor.frozen = actor.frozen or fate is CallOutcome.STALLED
        self.sleep(actor, self.faults.seconds_of(fate))

    def _meet(self, actor: Actor, subject: object) -> None:
        """Wake a sleeping worker while another actor handles its job; chance rarely does so."""
        asleep = [
            other
            for other in self.actors
            if other.lease is not None
            and other.lease.job_id == subject
            and other is not actor
            and other.ready_at > self.now + SECOND
        ]
        if asleep and self.faults.wakes():
            woken = self.faults.choice(asleep)
            self.note(woken, "wakes", "", f"while {actor.name} works")
            woken.ready_at = self.now
            self.sleep(actor, self.rng.uniform(0.0, 0.5))

    def _lose(self, actor: Actor, name: str, subject: object, fate: CallOutcome) -> None:
        self.note(actor, name, subject, fate)
        raise DependencyUnavailable(name.partition(".")[0])

    def _crash(self, actor: Actor, name: str, subject: object, fate: CallOutcome) -> None:
        self.note(actor, name, subject, fate)
        raise Crash(name)


class _Done[Answer]:
    """The result of a call's effect: an answer or a refusal."""

    def __init__(self, effect: Callable[[], Answer]) -> None:
        self.refusal: Exception | None = None
        try:
            self._answers = [effect()]
        except (JobAmended, LeaseLost, SubmissionRaced) as refusal:
            self.refusal = refusal

    def answer(self) -> Answer:
        """Return the answer to the caller, or raise the refusal."""
        if self.refusal is not None:
            raise self.refusal
        return self._answers[0]

    def __str__(self) -> str:
        return repr(self.refusal or self._answers[0])


def _is_transaction(name: str) -> bool:
    """Return whether a call carries a client token: a retry after its own success also succeeds."""
    return name in _TRANSACTIONS

"""Faults of the simulated world: random ones from a seed, or crashes at chosen calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from random import Random
from typing import Final, Protocol

from tests.fakes.crashes import Moment
from tests.simulation.turnstile import Actor

SKEW_SECONDS: Final = 5.0
INDEX_LAG_SECONDS: Final = 10.0


class CallOutcome(StrEnum):
    """Outcome of one call."""

    NONE = "fine"
    UNAVAILABLE = "unavailable"
    CRASH_BEFORE = "crash before"
    CRASH_AFTER = "crash after"
    ANSWER_LOST = "answer lost"
    TWICE = "answer lost, tried again"
    LATE = "held up"
    STALLED = "process stalled"


HELD: Final = frozenset({CallOutcome.LATE, CallOutcome.STALLED})


# A call that isn't idempotent is tried once and has a time-out: no process sends it minutes after
# it decided to.
_FOREIGN: Final = {
    CallOutcome.TWICE: CallOutcome.ANSWER_LOST,
    CallOutcome.STALLED: CallOutcome.LATE,
}


class Faults(Protocol):
    """The scheduler's choices."""

    def skew(self) -> timedelta:
        """Return the time by which a new process's clock is ahead."""
        ...

    def stays(self) -> bool:
        """Return whether the actor makes its next step before the others may move."""
        ...

    def choice(self, ready: Sequence[Actor]) -> Actor:
        """Return the actor that moves next."""
        ...

    def wakes(self) -> bool:
        """Return whether a sleeping process wakes now."""
        ...

    def fate_of(self, actor: Actor, call: str) -> CallOutcome:
        """Return the outcome of this call, `store.…` or `queue.…`."""
        ...

    def is_down(self, service: str) -> bool:
        """Return whether `store` or `queue` has an outage."""
        ...

    def seconds_of(self, fate: CallOutcome) -> float:
        """Return how many seconds an answer is late or a process stalls."""
        ...

    def misreports(self) -> bool:
        """Return whether a queue with a backlog reports none."""
        ...

    def index_lag(self) -> float:
        """Return by how many seconds an index lags behind its rows, for one query."""
        ...

    def deliveries(self) -> list[float]:
        """Return the delays in seconds of all copies of a message; empty for a lost message."""
        ...


@dataclass(frozen=True, kw_only=True)
class FaultRates:
    """Rates of faults; each seed has its own, so that rare combinations occur too."""

    skewed: bool
    stays: float
    fates: Mapping[CallOutcome, float]
    wakes: float
    lost_messages: float
    doubled_messages: float
    message_seconds: float
    handler_errors: float
    index_lag: float


def rates_of(rng: Random) -> FaultRates:
    """Draw fault rates, from none to high ones."""
    return FaultRates(
        skewed=rng.random() < 0.7,
        stays=rng.choice([0.0, 0.3, 0.7]),
        fates={
            CallOutcome.CRASH_BEFORE: rng.choice([0.0, 0.0, 0.01, 0.04]),
            CallOutcome.CRASH_AFTER: rng.choice([0.0, 0.0, 0.01, 0.04]),
            CallOutcome.UNAVAILABLE: rng.choice([0.0, 0.0, 0.01, 0.05]),
            CallOutcome.ANSWER_LOST: rng.choice([0.0, 0.0, 0.02, 0.06]),
            CallOutcome.TWICE: rng.choice([0.0, 0.02, 0.1]),
            CallOutcome.LATE: rng.choice([0.0, 0.05, 0.2]),
            CallOutcome.STALLED: rng.choice([0.0, 0.01, 0.05]),
        },
        wakes=rng.choice([0.0, 0.2, 0.6]),
        lost_messages=rng.choice([0.0, 0.0, 0.1, 0.5]),
        doubled_messages=rng.choice([0.0, 0.1, 0.5]),
        message_seconds=rng.choice([0.05, 2.0, 20.0]),
        handler_errors=rng.choice([0.0, 0.1, 0.4]),
        index_lag=rng.choice([0.0, 1.0, INDEX_LAG_SECONDS]),
    )


class SeededFaults:
    """Random faults, until `quiet`; the clocks stay skewed after that."""

    def __init__(self, rng: Random) -> None:
        self.rates = rates_of(rng)
        self.quiet = False
        self.down: set[str] = set()
        self._rng = rng
        self._fates = tuple(self.rates.fates.items())

    def skew(self) -> timedelta:
        """See Faults."""
        seconds = self._rng.uniform(-SKEW_SECONDS, SKEW_SECONDS) if self.rates.skewed else 0.0
        return timedelta(seconds=seconds)

    def stays(self) -> bool:
        """See Faults."""
        return self._rng.random() < self.rates.stays

    def choice(self, ready: Sequence[Actor]) -> Actor:
        """See Faults."""
        return ready[int(self._rng.random() * len(ready))]

    def wakes(self) -> bool:
        """See Faults."""
        return self._rng.random() < self.rates.wakes

    def fate_of(self, actor: Actor, call: str) -> CallOutcome:
        """See Faults."""
        if self.quiet:
            return CallOutcome.NONE
        if self.is_down(call.partition(".")[0]):
            return CallOutcome.UNAVAILABLE
        drawn = self._rng.random()
        for fate, share in self._fates:
            drawn -= share
            if drawn < 0:
                return _FOREIGN.get(fate, fate) if call == "foreign.perform" else fate
        return CallOutcome.NONE

    def is_down(self, service: str) -> bool:
        """See Faults."""
        return service in self.down

    def seconds_of(self, fate: CallOutcome) -> float:
        """See Faults."""
        if fate is CallOutcome.STALLED:
            return self._rng.choice(
                [self._rng.uniform(20.0, 120.0), self._rng.uniform(290.0, 330.0)]
            )
        return self._rng.uniform(0.05, 8.0)

    def misreports(self) -> bool:
        """See Faults."""
        return not self.quiet and self._rng.random() < 0.5

    def index_lag(self) -> float:
        """See Faults; an index lags also when `quiet`."""
        return self._rng.uniform(0.0, self.rates.index_lag)

    def deliveries(self) -> list[float]:
        """See Faults."""
        latency = self.rates.message_seconds
        if self.quiet:
            return [self._rng.uniform(0.01, latency)]
        if self._rng.random() < self.rates.lost_messages:
            return []
        copies = 2 if self._rng.random() < self.rates.doubled_messages else 1
        return [self._rng.uniform(0.01, latency) for _ in range(copies)]


class CrashPoints:
    """Crashes at the calls with these numbers, from 1, and no other faults. Actors move in turn."""

    def __init__(self, points: Mapping[int, Moment]) -> None:
        self.calls: list[str] = []
        self._points = points

    def skew(self) -> timedelta:
        """See Faults."""
        return timedelta(0)

    def stays(self) -> bool:
        """See Faults."""
        return True

    def choice(self, ready: Sequence[Actor]) -> Actor:
        """See Faults."""
        return ready[0]

    def wakes(self) -> bool:
        """See Faults."""
        return False

    def fate_of(self, actor: Actor, call: str) -> CallOutcome:
        """See Faults."""
        self.calls.append(call)
        match self._points.get(len(self.calls)):
            case Moment.BEFORE:
                return CallOutcome.CRASH_BEFORE
            case Moment.AFTER:
                return CallOutcome.CRASH_AFTER
            case _:
                return CallOutcome.NONE

    def is_down(self, service: str) -> bool:
        """See Faults."""
        return False

    def seconds_of(self, fate: CallOutcome) -> float:
        """See Faults."""
        return 0.0

    def misreports(self) -> bool:
        """See Faults."""
        return False

    def index_lag(self) -> float:
        """See Faults."""
        return 0.0

    def deliveries(self) -> list[float]:
        """See Faults."""
        return [0.05]

"""Two concurrent calls at one host: the second runs between two steps of the first."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from spinneret.web.politeness.changes import ConditionalUpdate, Row
from spinneret.web.politeness.models import (
    BreakerLimits,
    HostOutcome,
    PaceLimits,
    Permit,
    Record,
    SessionOptions,
    to_ms,
)
from spinneret.web.politeness.ports import Refused, Written
from spinneret.web.politeness.service import HostRateLimiter
from spinneret.web.politeness.sessions import Session, Sessions
from tests.fakes.politeness import FakeHostStateStore
from tests.fakes.time import HandClock

HOST = "site.example"
HOUR_MS = 3_600_000
BUCKET = PaceLimits(rate=1, burst=3)
SLOW = PaceLimits(rate=1 / 600, burst=2)
STRICT = PaceLimits(burst=3, min_gap_seconds=10)
OWN_GAP = PaceLimits(burst=3, own_gap_seconds=20)
CAREFUL = PaceLimits(burst=3, breaker=BreakerLimits(threshold=2, open_seconds=600))


class InterruptedLedger:
    """Implements HostStateStore; calls `action` before update number `at`, counted from 0."""

    def __init__(self, ledger: FakeHostStateStore) -> None:
        self._ledger = ledger
        self.updates = 0
        self.at: int | None = None
        self.action: Callable[[], None] = lambda: None

    def read(self, host: str, record: Record) -> Row:
        return self._ledger.read(host, record)

    def update(self, host: str, record: Record, change: ConditionalUpdate) -> Written | Refused:
        if self.updates == self.at:
            self.action()
        self.updates += 1
        return self._ledger.update(host, record, change)

    def put(self, host: str, row: Row) -> None:
        """Write the row as another process would."""
        self._ledger.update(host, Record.PACE, ConditionalUpdate(to=dict(row)))


@dataclass
class World:
    """One host, two processes, and the permits and sessions that they got in the scene."""

    clock: HandClock = field(default_factory=HandClock)
    ledger: FakeHostStateStore = field(default_factory=FakeHostStateStore)
    permits: list[Permit] = field(default_factory=list)
    opened: list[Session] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.first = InterruptedLedger(self.ledger)
        self.processes = [
            self._process("first", self.first),
            self._process("second", self.ledger),
        ]
        self.sessions = [
            self._sessions("first", self.first),
            self._sessions("second", self.ledger),
        ]

    def admit(self, pace: PaceLimits, times: int = 1, process: int = 1, **given: Any) -> None:
        """Request permits and keep those that are granted."""
        for _ in range(times):
            outcome = self.processes[process].admit(HOST, owner="job", limits=pace, **given)
            if isinstance(outcome, Permit):
                self.permits.append(outcome)

    def fail(self, times: int) -> None:
        """Let `times` requests fail while two more are in flight; then let the bucket refill."""
        for _ in range(times + 2):
            self.clock.advance(1)
            self.admit(BUCKET, reserved=True)
        for permit in self.permits[:times]:
            self.processes[1].report(permit, HostOutcome.HOST_FAILURE)
        self.permits = self.permits[times:]
        self.clock.advance(3)

    def fail_and_go_on(self, times: int) -> None:
        """Do as `fail`, but the two requests in flight were admitted after the failures."""
        self.fail(times)
        self.permits = []
        self.admit(BUCKET, 2)
        self.clock.advance(3)

    def _process(self, name: str, ledger: Any) -> HostRateLimiter:
        numbers = itertools.count()
        return HostRateLimiter(
            ledger=ledger,
            clock=self.clock,
            new_token=lambda: f"{name}-{next(numbers)}",
            stage=BUCKET,
        )

    def _sessions(self, name: str, ledger: Any) -> Sessions:
        numbers = itertools.count()
        return Sessions(
            ledger=ledger,
            options=SessionOptions(),
            clock=self.clock,
            random=lambda: 0.0,
            new_token=lambda: f"{name}-{next(numbers)}",
            is_over=lambda session_id: session_id == "one",
        )


Scene = Callable[[World], None]
Call = Callable[[World, int], Any]


def wait(world: World, seconds: float) -> None:
    """Advance the clock."""
    world.clock.advance(seconds)


def check_meeting(scene: Scene, calls: tuple[Call, Call], record: Record, context: str) -> None:
    def row_of(world: World) -> Row:
        row = dict(world.ledger.read(HOST, record))
        row.pop("purge_at", None)  # depends on which call writes last
        return row

    def played(order: tuple[int, ...]) -> tuple[Any, ...]:
        world = World()
        scene(world)
        answers = [None, None]
        for process in order:
            answers[process] = calls[process](world, process)
        return (*answers, row_of(world))

    allowed = [played((0, 1)), played((1, 0))]
    for at in itertools.count():
        world = World()
        scene(world)
        answers: list[Any] = [None, None]

        def interrupt(world: World = world, answers: list[Any] = answers) -> None:
            answers[1] = calls[1](world, 1)

        world.first.updates, world.first.at, world.first.action = 0, at, interrupt
        answers[0] = calls[0](world, 0)
        if world.first.updates <= at:
            return
        reported = (*answers, row_of(world))
        for name, slot in row_of(world).items():
            if "tail" in name:
                assert isinstance(slot, int)
                assert slot <= to_ms(world.clock()) + HOUR_MS
        if _slipped_in(*answers):
            assert _without_slots(reported) in map(_without_slots, allowed), f"{context} at {at}"
        else:
            assert reported in allowed, f"{context}, interrupted at {at}"


def _slipped_in(first: Any, second: Any) -> bool:
    """Return whether the first call was refused, and the second admitted before it reserved a slot.

    That is harmless: a slot is a hint, and no token was taken twice.
    """
    match first, second:
        case (("waits", *_), ("admitted", *_)):
            return True
    return False


def _without_slots(reported: tuple[Any, ...]) -> tuple[Any, ...]:
    first, second, row = reported
    kept = {
        name: value for name, value in row.items() if "tail" not in name and name != "reserved_by"
    }
    return first[0], second, kept

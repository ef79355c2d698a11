"""The host ledger, redirect progress and robots.txt files in memory."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from threading import Lock
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.web import limits
from spinneret.web.fetching.urls import Url
from spinneret.web.models import Caller, RedirectProgress
from spinneret.web.politeness.changes import (
    ConditionalUpdate,
    Guard,
    GuardOperator,
    Increment,
    Row,
    Value,
)
from spinneret.web.politeness.models import PaceLimits, Record
from spinneret.web.politeness.ports import HostStateStore, Refused, Written
from spinneret.web.politeness.robots_policy import StoredRobots
from spinneret.web.politeness.service import HostRateLimiter
from tests.fakes.dependency import FakeDependency

_MAKERS: Final = count()


class FakeHostStateStore(FakeDependency):
    """Implements HostStateStore under one lock."""

    def __init__(self) -> None:
        self.updates = 0
        """Number of attempted updates."""
        self.reads = 0
        self._lock = Lock()
        self._rows: dict[tuple[str, Record], dict[str, Value]] = {}

    def read(self, host: str, record: Record) -> Row:
        with self._lock:
            self._require()
            self.reads += 1
            return dict(self._rows.get((host, record), {}))

    def update(self, host: str, record: Record, change: ConditionalUpdate) -> Written | Refused:
        with self._lock:
            self._require()
            self.updates += 1
            row = self._rows.get((host, record), {})
            if not all(_holds(guard, row) for guard in change.guards):
                return Refused(dict(row))
            after = _changed(row, change)
            self._rows[host, record] = after
            return Written(dict(after))


def _holds(guard: Guard, row: Row) -> bool:
    value = row.get(guard.attribute)
    match guard.relation:
        case GuardOperator.ABSENT:
            return value is None
        case GuardOperator.EQUAL:
            return value is not None and value == guard.value
        case GuardOperator.DIFFERENT:
            return value is None or value != guard.value
        case GuardOperator.PASSED:
            return value is None or _number(value) <= _number(guard.value)
        case GuardOperator.OVER:
            return value is not None and _number(value) > _number(guard.value)


def _changed(row: Row, change: ConditionalUpdate) -> dict[str, Value]:
    after = dict(row)
    for name, to in change.to.items():
        match to:
            case None:
                after.pop(name, None)
            case Increment(amount=amount, start=start):
                after[name] = _number(row.get(name, start)) + amount
            case _:
                after[name] = to
    return after


def _number(value: Value) -> int:
    assert isinstance(value, int)
    return value


class LossyLedger:
    """A ledger that loses its first response to each update, so the client repeats the update."""

    def __init__(self, ledger: HostStateStore) -> None:
        self._ledger = ledger

    def read(self, host: str, record: Record) -> Row:
        return self._ledger.read(host, record)

    def update(self, host: str, record: Record, change: ConditionalUpdate) -> Written | Refused:
        self._ledger.update(host, record, change)
        return self._ledger.update(host, record, change)


def pace_at(
    ledger: HostStateStore, clock: Clock, stage: PaceLimits | None = None
) -> HostRateLimiter:
    """Return the rate limiter of one process; the default limits are the usual ones."""
    return HostRateLimiter(
        ledger=ledger, clock=clock, new_token=tokens(), stage=stage or PaceLimits()
    )


def tokens() -> Callable[[], str]:
    """Return a function that returns unique tokens; no two such functions share one."""
    maker = next(_MAKERS)
    numbers = count()
    return lambda: f"{maker}-{next(numbers)}"


class FakeProgressStore(FakeDependency):
    """Implements ProgressStore."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str, Url], tuple[RedirectProgress, datetime]] = {}

    def find(self, caller: Caller, requested: Url, now: datetime) -> RedirectProgress | None:
        self._require()
        found = self.kept.get((caller.tenant, caller.id, requested))
        if found is None or now >= found[1] + timedelta(seconds=limits.REDIRECTS_KEPT_SECONDS):
            return None
        return found[0]

    def keep(self, caller: Caller, progress: RedirectProgress, now: datetime) -> None:
        self._require()
        self.kept[caller.tenant, caller.id, progress.left[0]] = progress, now

    def drop(self, caller: Caller, requested: Url) -> None:
        self._require()
        self.kept.pop((caller.tenant, caller.id, requested), None)


class FakeRobotsStore:
    """Implements RobotsStore; records the origins that callers asked for."""

    def __init__(self) -> None:
        self.kept: dict[str, StoredRobots] = {}
        self.asked: list[str] = []

    def find(self, origin: str) -> StoredRobots | None:
        self.asked.append(origin)
        return self.kept.get(origin)

    def keep(self, origin: str, kept: StoredRobots) -> None:
        self.kept[origin] = kept

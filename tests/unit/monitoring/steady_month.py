"""A month of a target that is mostly up: steady hours in one step, the others check by check.

A steady hour is twelve good checks. Their effect follows from the first and the last check and from
the latencies, so that one call of the rollups replaces twelve. A test shows that the resulting
state is the same as after twelve steps.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Final

from spinneret.kernel import histogram
from spinneret.monitoring.checks.models import Outcome
from spinneret.monitoring.rollups import rules
from spinneret.monitoring.rollups.models import HourTally, Rollup
from spinneret.monitoring.targets.models import LastCheck, Status, TargetState
from tests.unit.monitoring.month import INTERVAL, Monitored, Seen, first_check

CHECKS: Final = 12  # per hour
_STEP: Final = timedelta(seconds=INTERVAL)
_LATE: Final = (0, 0, 40, 14_999)  # milliseconds


@dataclass(frozen=True)
class Block:
    """Latencies and lateness of a steady hour's checks, in milliseconds."""

    latencies: tuple[int, ...]
    late: tuple[int, ...]

    def seen(self, begin: datetime) -> list[Seen]:
        """Return the checks of the hour."""
        return [
            Seen(begin + number * _STEP + timedelta(milliseconds=late), Outcome.UP, latency)
            for number, (latency, late) in enumerate(zip(self.latencies, self.late, strict=True))
        ]


Hour = Block | list[Seen]
"""A steady hour, or the checks of an unsteady one."""


def blocks(chance: random.Random, number: int) -> list[Block]:
    """Return different steady hours, from which the hours of all targets are drawn."""
    return [
        Block(
            tuple(round(chance.lognormvariate(5, 1)) + 1 for _ in range(CHECKS)),
            tuple(chance.choice(_LATE) for _ in range(CHECKS)),
        )
        for _ in range(number)
    ]


def hours(
    chance: random.Random, pool: Sequence[Block], target_id: str, days: int
) -> Iterator[tuple[datetime, Hour]]:
    """Yield each hour with its start."""
    first = first_check(target_id)
    for number in range(24 * days):
        begin, block = first + timedelta(hours=number), chance.choice(pool)
        yield begin, block if chance.random() > 0.005 else _unsteady(chance, block.seen(begin))


def _unsteady(chance: random.Random, seen: list[Seen]) -> list[Seen]:
    """Make some checks fail or end as unknown, and drop others."""
    outcomes = (Outcome.UP, Outcome.DOWN, Outcome.DOWN, Outcome.UNKNOWN)
    found = [replace(each, outcome=chance.choice(outcomes)) for each in seen]
    return [each for each in found if chance.random() > 0.1]


class SteadyMonth(Monitored):
    """A monitored target whose steady hours are evaluated in one step."""

    def hour(self, begin: datetime, block: Block) -> None:
        """Evaluate twelve good checks of a target that is up."""
        assert self.state.status is Status.UP  # otherwise, each step would do more than count
        last = begin + (CHECKS - 1) * _STEP + timedelta(milliseconds=block.late[-1])
        hour, latencies = rules.hour_of(begin), block.latencies
        if rules.hour_of(last) == hour:
            self._held(last, HourTally(hour, _counted(latencies)))
        else:  # the last check was late, and came in the next hour
            before = begin + (CHECKS - 2) * _STEP + timedelta(milliseconds=block.late[-2])
            self._held(before, HourTally(hour, _counted(latencies[:-1])))
            self._held(last, HourTally(rules.hour_of(last), _counted(latencies[-1:])))
        state = self.state
        self.state = replace(
            state,
            sequence=state.sequence + CHECKS,
            due_at=last,
            failures=0,
            slow=0,
            successes=state.successes + CHECKS,
            fast=state.fast + CHECKS,
            trouble_since=None,
            checks_total=state.checks_total + CHECKS,
            last=_last(last, latencies[-1]),
        )

    def _held(self, until: datetime, own: HourTally) -> None:
        """Add the previous outcome's time until then; no gap is longer than an outcome holds."""
        before = self.state.last
        assert before is not None
        span = int((until - before.at).total_seconds()) + 1
        pieces = rules.held(before.outcome, before.at, until, span, maintenance=False)
        made, closed = rules.added(self.state.hour, chain(pieces, [(own.hour, own.tally)]))
        latency = before.latency_ms or 0
        self.state = replace(self.state, hour=made, last=_last(until, latency))
        self.close(closed)


def _last(at: datetime, latency_ms: int) -> LastCheck:
    return LastCheck(
        at=at,
        outcome=Outcome.UP,
        in_maintenance=False,
        interval_seconds=INTERVAL,
        status_code=None,
        latency_ms=latency_ms,
        error=None,
    )


_COUNTED: dict[tuple[int, ...], Rollup] = {}


def _counted(latencies: tuple[int, ...]) -> Rollup:
    """Return the rollup of good checks, without their time."""
    known = _COUNTED.get(latencies)
    if known is None:
        counts = Counter(histogram.bucket_of(latency) for latency in latencies)
        known = _COUNTED[latencies] = Rollup(checks=len(latencies), latencies=dict(counts))
    return known


def is_steady(state: TargetState, begin: datetime) -> bool:
    """Return whether a good hour can be evaluated in one step."""
    if state.last is None or state.status is not Status.UP:
        return False
    return state.last.outcome is Outcome.UP and begin - state.last.at <= 2 * _STEP


# ---------------------------------------------------------------- The oracle


class Expected:
    """Values that follow from the raw outcomes alone; a steady hour is added in one step."""

    def __init__(self, hours: Iterable[tuple[datetime, Hour]]) -> None:
        self.seconds: Counter[Outcome] = Counter()
        self.latencies: Counter[int] = Counter()
        self.checks = self.failed = 0
        self.deciding: list[Seen] = []
        """Checks that incidents may follow from: unsteady hours, and three checks after each."""
        self._former: Seen | None = None
        picked: Counter[Block] = Counter()
        for begin, hour in hours:
            if isinstance(hour, list):
                self.deciding += hour
                self._one_by_one(hour)
                unsteady = True
                continue
            picked[hour] += 1
            if not self.deciding or unsteady:
                self.deciding += hour.seen(begin)[:3]
            unsteady = False
            self._at_once(begin, hour)
        for block, times in picked.items():
            self.checks += CHECKS * times
            for latency in block.latencies:
                self.latencies[latency] += times

    def _one_by_one(self, seen: list[Seen]) -> None:
        for each in seen:
            self._until(each)
            self.checks += 1
            self.failed += each.outcome is Outcome.DOWN
            if each.outcome is Outcome.UP:
                self.latencies[each.latency_ms] += 1

    def _at_once(self, begin: datetime, block: Block) -> None:
        late, end = block.late, begin + (CHECKS - 1) * _STEP
        self._until(Seen(begin + timedelta(milliseconds=late[0]), Outcome.UP, 0))
        last = Seen(end + timedelta(milliseconds=late[-1]), Outcome.UP, 0)
        assert self._former is not None
        self.seconds[Outcome.UP] += (last.at - self._former.at).total_seconds()
        self._former = last

    def _until(self, check: Seen) -> None:
        """Add the previous outcome's time until this check, three intervals at most."""
        if (former := self._former) is not None:
            gap = (check.at - former.at).total_seconds()
            self.seconds[former.outcome] += min(gap, 3 * INTERVAL)
        self._former = check

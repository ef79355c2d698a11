"""Figures of each window (M-04), compared with an oracle that only adds up raw outcomes."""

import math
import random
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

import pytest

from spinneret.monitoring.checks.models import CheckError, CheckResult, Outcome
from spinneret.monitoring.incidents.rules import step
from spinneret.monitoring.rollups.api_models import UptimeView, uptime_days, uptime_view
from spinneret.monitoring.rollups.models import Window
from spinneret.monitoring.rollups.service import FigureService
from spinneret.monitoring.targets.models import Options, Target, TargetState, TargetWithState
from tests.fakes.monitoring import FakeWatch
from tests.fakes.time import HandClock
from tests.sampling import sampled

NOW: Final = datetime.fromisoformat("2026-03-05T14:37:21.250+00:00")
"""A time in the middle of a day, an hour and a minute."""
SECOND: Final = timedelta(seconds=1)
BEGINS: Final = {
    Window.HOUR: "2026-03-05T13:37:21.250+00:00",
    Window.DAY: "2026-03-04T14:00:00+00:00",
    Window.WEEK: "2026-02-26T14:00:00+00:00",
    Window.MONTH: "2026-02-03T00:00:00+00:00",
    Window.YEAR: "2025-03-05T00:00:00+00:00",
}
INTERVALS: Final = {
    Window.HOUR: 15,
    Window.DAY: 60,
    Window.WEEK: 300,
    Window.MONTH: 1800,
    Window.YEAR: 3600,
}

MOODS: Final = (*[Outcome.UP] * 4, Outcome.DOWN, Outcome.DEGRADED, Outcome.UNKNOWN)


def history(chance: random.Random, window: Window, days: float) -> list[CheckResult]:
    """Return checks until NOW, with periods that are down, slow, unknown or in maintenance."""
    interval = INTERVALS[window]
    found: list[CheckResult] = []
    at, mood, left = NOW - timedelta(days=days), Outcome.UP, 0
    while (at := at + interval * SECOND) < NOW:
        if not left:
            mood = chance.choice(
                [Outcome.UP] * 4 + [Outcome.DOWN, Outcome.DEGRADED, Outcome.UNKNOWN]
            )
            left, kept = chance.randint(1, 30), chance.random() < 0.2
        left -= 1
        if chance.random() < 0.02:
            at += chance.randint(1, 8) * interval * SECOND  # a gap without checks
        if at >= NOW:
            break
        late = timedelta(milliseconds=chance.randint(0, 900))
        found.append(result(len(found), at + late, mood, chance, in_maintenance=kept))
        # A skipped check within an hour, after the hour's first check.
        if interval < 600 and 20 <= at.minute < 40 and chance.random() < 0.1:
            found.append(result(len(found), at + 2 * SECOND, Outcome.SKIPPED_BUSY, chance))
    return found


def result(
    number: int,
    at: datetime,
    outcome: Outcome,
    chance: random.Random,
    *,
    in_maintenance: bool = False,
) -> CheckResult:
    error = CheckError(code="HTTP_ERROR", message="answered 500")
    return CheckResult(
        id=f"res_{number:06}",
        checked_at=at,
        outcome=outcome,
        late_ms=0,
        latency_ms=round(chance.lognormvariate(5, 1)) + 1,
        error=error if outcome is Outcome.DOWN else None,
        in_maintenance=in_maintenance,
    )


def shown(window: Window, results: list[CheckResult], *, with_maintenance: bool) -> UptimeView:
    """Record the checks one by one; return the view of the figures that the service reads."""
    service, watched = recorded(results, INTERVALS[window])
    return uptime_view(window, service.figures(watched, window), with_maintenance=with_maintenance)


def recorded(results: list[CheckResult], interval: int) -> tuple[FigureService, TargetWithState]:
    """Record the checks one by one; return the service that reads them, and the target."""
    watch = FakeWatch()
    target = Target(
        tenant="acme",
        id="t_1",
        url="https://example.com/",
        canonical_url="https://example.com/",
        host="example.com",
        created_at=NOW,
        updated_at=NOW,
        options=Options(interval_seconds=interval),
    )
    watched = TargetWithState(target=target, state=TargetState(sequence=1, due_at=NOW))
    watch.rows["acme", "t_1"] = watched
    for each in results:
        assert watch.record(watched, each, step(watched, each, NOW))
        watched = watch.rows["acme", "t_1"]
    return FigureService(rollups=watch, checks=watch, clock=HandClock(NOW)), watched


# covers M-04
def test_days_add_up_to_their_window_and_have_the_present_hour() -> None:
    results = history(random.Random(7), Window.MONTH, 20)
    service, watched = recorded(results, INTERVALS[Window.MONTH])
    days = uptime_days(service.days(watched)).items
    month = uptime_view(
        Window.MONTH, service.figures(watched, Window.MONTH), with_maintenance=False
    )
    assert [each.day for each in days] == sorted({each.checked_at.date() for each in results})
    for name in ("down_ms", "degraded_ms", "unknown_ms", "checks"):
        assert sum(getattr(each, name) for each in days) == getattr(month, name), name
    assert sum(each.latency.count for each in days) == month.latency.count


@dataclass(frozen=True)
class Oracle:
    """Expected figures of a period, from the raw results."""

    results: list[CheckResult]
    interval: int
    since: datetime

    def held(self) -> Counter[tuple[Outcome, bool]]:
        """Return the milliseconds of each outcome, inside and outside maintenance."""
        asked = [each for each in self.results if each.outcome is not Outcome.SKIPPED_BUSY]
        found: Counter[tuple[Outcome, bool]] = Counter()
        for one, following in pairwise(asked):
            end = min(following.checked_at, one.checked_at + 3 * self.interval * SECOND)
            span = (end - max(one.checked_at, self.since)) / timedelta(milliseconds=1)
            found[one.outcome, one.in_maintenance] += max(0, round(span))
        return found

    def uptime(self, *, with_maintenance: bool) -> float | None:
        good, bad = 0, 0
        for (outcome, maintained), milliseconds in self.held().items():
            if outcome is Outcome.UNKNOWN or (maintained and not with_maintenance):
                continue
            bad += milliseconds if outcome is Outcome.DOWN else 0
            good += milliseconds if outcome is not Outcome.DOWN else 0
        return good / (good + bad) if good + bad else None

    def counted(self) -> list[CheckResult]:
        return [each for each in self.results if each.checked_at >= self.since]

    def latency(self, share: float) -> float:
        measured = sorted(
            each.latency_ms
            for each in self.counted()
            if each.outcome in {Outcome.UP, Outcome.DEGRADED}
        )
        return measured[max(1, math.ceil(share * len(measured))) - 1]


# covers M-04
@pytest.mark.parametrize("seed", sampled(range(3), tested=1))
@pytest.mark.parametrize(
    "window",
    [pytest.param(each, marks=() if each is Window.HOUR else pytest.mark.heavy) for each in Window],
)
@pytest.mark.heavy
def test_a_windows_figures_are_those_of_its_raw_outcomes(window: Window, seed: int) -> None:
    chance = random.Random(f"{seed}/{window}")
    length = window.length / timedelta(days=1)
    results = history(chance, window, days=length + chance.choice((0.2, 1.7)))
    since = datetime.fromisoformat(BEGINS[window])
    oracle = Oracle(results, INTERVALS[window], since)
    held, counted = oracle.held(), oracle.counted()
    for with_maintenance in (False, True):
        view = shown(window, results, with_maintenance=with_maintenance)
        assert datetime.fromisoformat(view.since) == since
        asked = [each for each in results if each.outcome is not Outcome.SKIPPED_BUSY]
        assert datetime.fromisoformat(view.until) == asked[-1].checked_at
        assert view.uptime == pytest.approx(
            oracle.uptime(with_maintenance=with_maintenance), abs=1e-9
        )
        assert view.maintenance == ("include" if with_maintenance else "exclude")
        assert (view.up_ms, view.degraded_ms, view.down_ms) == (
            held[Outcome.UP, False],
            held[Outcome.DEGRADED, False],
            held[Outcome.DOWN, False],
        )
        assert view.unknown_ms == held[Outcome.UNKNOWN, False] + held[Outcome.UNKNOWN, True]
        assert view.maintenance_ms == sum(
            held[outcome, True] for outcome in (Outcome.UP, Outcome.DEGRADED, Outcome.DOWN)
        )
        kinds = Counter(each.outcome for each in counted)
        assert view.skipped == kinds[Outcome.SKIPPED_BUSY]
        assert view.checks == len(counted) - view.skipped
        assert view.failed == sum(
            each.outcome is Outcome.DOWN and not each.in_maintenance for each in counted
        )
        assert view.latency.count == kinds[Outcome.UP] + kinds[Outcome.DEGRADED]
        for share, found in (
            (0.5, view.latency.p50_ms),
            (0.95, view.latency.p95_ms),
            (0.99, view.latency.p99_ms),
        ):
            # `abs` allows for rounding to a tenth of a millisecond.
            assert found == pytest.approx(oracle.latency(share), rel=0.05, abs=0.06)


@pytest.mark.parametrize("window", list(Window))
@pytest.mark.parametrize(
    ("outcome", "uptime", "with_maintenance"),
    [
        (Outcome.UP, 1.0, 1.0),
        (Outcome.DEGRADED, 1.0, 1.0),
        (Outcome.DOWN, None, 0.0),
        (Outcome.UNKNOWN, None, None),
    ],
)
def test_what_is_known_of_an_hour_that_is_under_way(
    window: Window, outcome: Outcome, uptime: float | None, with_maintenance: float | None
) -> None:
    """The hour has two checks; a failure in maintenance counts only if maintenance counts."""
    chance = random.Random(0)
    maintained = outcome is Outcome.DOWN
    results = [
        result(
            number, NOW - (20 - 10 * number) * SECOND, outcome, chance, in_maintenance=maintained
        )
        for number in range(2)
    ]
    for included, expected in ((False, uptime), (True, with_maintenance)):
        view = shown(window, results, with_maintenance=included)
        assert (view.uptime, view.checks) == (expected, 2)
        assert view.up_ms + view.degraded_ms + view.unknown_ms + view.maintenance_ms == 10_000


@pytest.mark.parametrize("before", [15, 600], ids=["a longer one", "a shorter one"])
def test_an_outcome_holds_for_the_interval_that_it_was_found_with(before: int) -> None:
    now = 615 - before
    chance, times = random.Random(3), [NOW - number * 600 * SECOND for number in (5, 4, 3, 2, 1)]
    results = [
        replace(result(number, at, Outcome.UP, chance), interval_seconds=before)
        for number, at in enumerate(times)
    ]
    known = min(600, 3 * before)
    service, watched = recorded(results, now)
    assert service.figures(watched, Window.HOUR).tally.up_ms == 4 * known * 1000


@pytest.mark.parametrize("window", list(Window))
def test_nothing_is_known_of_a_target_that_nobody_checked(window: Window) -> None:
    view = shown(window, [], with_maintenance=False)
    assert (view.uptime, view.checks, view.latency.p50_ms) == (None, 0, None)
    assert datetime.fromisoformat(view.until) == NOW

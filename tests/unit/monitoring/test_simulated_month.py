"""A month of checks, compared with an oracle that sees only the raw outcomes."""

import itertools
import math
import os
import random
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

import pytest

from spinneret.kernel import histogram
from spinneret.monitoring.checks.models import Outcome
from spinneret.monitoring.rollups import rules
from spinneret.monitoring.targets.rules import next_slot
from tests.sampling import sampled
from tests.unit.monitoring.month import BEGIN, INTERVAL, Monitored, Seen
from tests.unit.monitoring.steady_month import (
    Block,
    Expected,
    SteadyMonth,
    blocks,
    hours,
    is_steady,
)

TARGETS: Final = int(os.environ.get("SPINNERET_MONTH_TARGETS", "96"))
"""Number of targets; `make prove` runs 10,000."""
PARTS: Final = 8
FLAPPING: Final = max(20, TARGETS // 100)


def history(chance: random.Random, target_id: str, days: int, *, flaps: bool) -> list[Seen]:
    """Return a target's checks, a few missing or unknown; with `flaps`, some fail in series."""
    found, at, trouble = [], BEGIN, 0
    end = BEGIN + timedelta(days=days)
    while (at := next_slot(target_id, INTERVAL, at)) < end:
        late = timedelta(milliseconds=chance.choice((0, 0, 40, 14_999)))
        if chance.random() < 0.001:
            continue  # a missing check
        if trouble:
            trouble -= 1
        elif flaps and chance.random() < 0.02:
            trouble = chance.choice((1, 2, 3, 4, 5, 12, 40))
        outcome = Outcome.DOWN if trouble else Outcome.UP
        if chance.random() < 0.0005:
            outcome = Outcome.UNKNOWN
        found.append(Seen(at + late, outcome, round(chance.lognormvariate(5, 1)) + 1))
    return found


def monitored(target_id: str, seen: list[Seen]) -> Monitored:
    """Evaluate a target's checks and return the monitored target."""
    found = Monitored(target_id)
    found.checks(seen)
    return found


def expected_incidents(seen: list[Seen]) -> list[tuple[datetime, datetime | None]]:
    """Return the incidents: three failures in a row open one at the first, two successes end it."""
    counted = [each for each in seen if each.outcome is not Outcome.UNKNOWN]
    found: list[tuple[datetime, datetime | None]] = []
    is_down, number = False, 0
    while number < len(counted):
        length = 2 if is_down else 3
        wanted = Outcome.UP if is_down else Outcome.DOWN
        run = counted[number : number + length]
        if len(run) == length and all(each.outcome is wanted for each in run):
            if is_down:
                found[-1] = found[-1][0], run[-1].at
            else:
                found.append((run[0].at, None))
            is_down = not is_down
            number += length
        else:
            number += 1
    return found


def expected_seconds(seen: list[Seen], outcome: Outcome) -> float:
    """Return the seconds of an outcome, from each check to the next, three intervals at most."""
    total = 0.0
    for one, following in itertools.pairwise(seen):
        if one.outcome is outcome:
            total += min((following.at - one.at).total_seconds(), 3 * INTERVAL)
    return total


def require_percentiles(found: Monitored, exact: Mapping[int, int]) -> None:
    """Require percentiles within the histogram's stated error of the latencies' nearest rank."""
    total, ordered = sum(exact.values()), sorted(exact.items())
    for share in (0.5, 0.95, 0.99):
        rank = max(1, math.ceil(share * total))
        counts = itertools.accumulate(number for _, number in ordered)
        latency = next(ms for (ms, _), upto in zip(ordered, counts, strict=True) if upto >= rank)
        shown = histogram.percentile(found.tally.latencies, share)
        assert shown == pytest.approx(latency, rel=histogram.ERROR + 0.001, abs=0.5)


def require_seconds(found: Monitored, seconds: Mapping[Outcome, float]) -> None:
    """Require each outcome's time, and the uptime that follows from them."""
    tally = found.tally
    for outcome, milliseconds in (
        (Outcome.UP, tally.up_ms),
        (Outcome.DOWN, tally.down_ms),
        (Outcome.UNKNOWN, tally.unknown_ms),
    ):
        assert milliseconds / 1000 == pytest.approx(seconds[outcome], abs=1e-6)
    up, down = seconds[Outcome.UP], seconds[Outcome.DOWN]
    uptime = rules.uptime(tally, with_maintenance=False)
    assert uptime == pytest.approx(up / (up + down), abs=1e-12)


def compare(chance: random.Random, target_id: str, days: int, *, flaps: bool) -> Monitored:
    """Compare a target's checks with the oracle, evaluated one by one."""
    seen = history(chance, target_id, days, flaps=flaps)
    found = monitored(target_id, seen)
    assert found.incidents == expected_incidents(seen)
    outcomes = (Outcome.UP, Outcome.DOWN, Outcome.UNKNOWN)
    require_seconds(found, {each: expected_seconds(seen, each) for each in outcomes})
    assert found.tally.checks == len(seen)
    assert found.tally.failed == sum(each.outcome is Outcome.DOWN for each in seen)
    require_percentiles(found, Counter(e.latency_ms for e in seen if e.outcome is Outcome.UP))
    assert found.hours < days * 24 + 1
    return found


def compare_steady(
    chance: random.Random, pool: list[Block], target_id: str, days: int
) -> Monitored:
    """Compare a target's checks with the oracle, with steady hours evaluated in one step."""
    found, month = SteadyMonth(target_id), list(hours(chance, pool, target_id, days))
    for begin, hour in month:
        if isinstance(hour, Block) and is_steady(found.state, begin):
            found.hour(begin, hour)
        else:
            found.checks(hour.seen(begin) if isinstance(hour, Block) else hour)
    oracle = Expected(month)
    assert found.incidents == expected_incidents(oracle.deciding)
    require_seconds(found, oracle.seconds)
    assert (found.tally.checks, found.tally.failed) == (oracle.checks, oracle.failed)
    require_percentiles(found, oracle.latencies)
    assert found.hours < days * 24 + 1
    return found


@pytest.mark.heavy
def test_a_few_days_are_as_the_oracle_says() -> None:
    chance = random.Random(1)
    found = [compare(chance, f"t_{number}", 4, flaps=number % 2 == 0) for number in range(6)]
    assert sum(len(each.incidents) for each in found) > 10


@pytest.mark.heavy
def test_a_steady_hour_at_once_is_the_same_as_its_checks_one_by_one() -> None:
    chance = random.Random(3)
    pool = blocks(chance, 20)
    crossing = 0
    for number in range(40):
        target_id = f"t_{number}"
        at_once, singly = SteadyMonth(target_id), Monitored(target_id)
        for begin, hour in hours(chance, pool, target_id, 3):
            seen = hour.seen(begin) if isinstance(hour, Block) else hour
            singly.checks(seen)
            if isinstance(hour, Block) and is_steady(at_once.state, begin):
                at_once.hour(begin, hour)
                crossing += rules.hour_of(begin) != rules.hour_of(seen[-1].at)
            else:
                at_once.checks(seen)
            assert at_once.state == singly.state
            assert at_once.tally == singly.tally
    assert crossing > 5


@pytest.mark.heavy
def test_a_few_steady_days_are_as_the_oracle_says() -> None:
    chance = random.Random(4)
    pool = blocks(chance, 20)
    found = [compare_steady(chance, pool, f"t_{number}", 6) for number in range(20)]
    assert sum(len(each.incidents) for each in found) > 3


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", sampled(range(PARTS), quick=0, tested=1))
def test_a_month_is_as_the_oracle_says(part: int) -> None:
    """One target in a hundred flaps, but at least 20; the others are up for nearly all hours."""
    chance = random.Random(part)
    pool = blocks(chance, 64)
    for number in range(part, TARGETS, PARTS):
        if number < FLAPPING:
            compare(chance, f"t_{number}", 30, flaps=True)
        else:
            compare_steady(chance, pool, f"t_{number}", 30)


def test_every_latency_is_within_the_stated_error_of_its_bucket() -> None:
    for latency in [*range(1, 3000), *range(3000, 70_000, 37)]:
        shown = histogram.value_of(histogram.bucket_of(latency))
        assert shown == pytest.approx(latency, rel=histogram.ERROR, abs=0.5)
    buckets = [histogram.bucket_of(latency) for latency in range(1, 70_000)]
    assert buckets == sorted(buckets)


def test_a_year_of_days_and_a_week_of_hours_fit_a_page_of_a_query() -> None:
    """A query returns at most 1 MB; in DynamoDB, a number takes a byte per two digits plus one."""
    most = histogram.bucket_of(60_000) + 1
    durations = 7 * (len("maintenance_down_ms") + 6)
    latencies = sum(len(f"l{bucket}") + 4 for bucket in range(most))
    keys = 2 * len("pk") + 150 + len("purge_at") + 6
    assert 366 * (durations + latencies + keys) < 1_000_000


def test_a_bucket_that_nobody_fills_is_not_kept() -> None:
    seen = [Seen(BEGIN, Outcome.UP, 5), Seen(BEGIN + timedelta(seconds=300), Outcome.UP, 5)]
    tally = monitored("t_1", seen).tally
    assert list(tally.latencies.values()) == [2]

"""A month of checks against an oracle that looks at the raw outcomes alone."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from spinneret.monitoring.checks.models import CheckError, CheckResult, Outcome
from spinneret.monitoring.incidents.rules import step
from spinneret.monitoring.rollups import rules
from spinneret.monitoring.rollups.models import Tally
from spinneret.monitoring.targets.models import Options, Target, TargetState, Watched
from spinneret.monitoring.targets.rules import next_slot

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
INTERVAL = 300
ERROR = CheckError(code="HTTP_ERROR", message="answered 500")


@dataclass(frozen=True)
class Seen:
    """One check as the site knows it."""

    at: datetime
    outcome: Outcome
    latency_ms: int


@dataclass
class Found:
    """What monitoring says of one target."""

    tally: Tally
    incidents: list[tuple[datetime, datetime | None]]
    hours: int


def history(chance: random.Random, target_id: str, days: int, *, flaps: bool) -> list[Seen]:
    """A target's checks: now and then a single failure, and for some long series of them."""
    found, at, trouble = [], BEGIN, 0
    end = BEGIN + timedelta(days=days)
    while (at := next_slot(target_id, INTERVAL, at)) < end:
        late = timedelta(milliseconds=chance.choice((0, 0, 40, 14_999)))
        if chance.random() < 0.001:
            continue  # nobody looked
        if trouble:
            trouble -= 1
        elif flaps and chance.random() < 0.02:
            trouble = chance.choice((1, 2, 3, 4, 5, 12, 40))
        outcome = Outcome.DOWN if trouble else Outcome.UP
        if chance.random() < 0.0005:
            outcome = Outcome.UNKNOWN
        found.append(Seen(at + late, outcome, round(chance.lognormvariate(5, 1)) + 1))
    return found


def monitored(target_id: str, seen: list[Seen]) -> Found:
    """What the rules make of it."""
    target = Target(
        tenant="acme",
        id=target_id,
        url="https://site.example/",
        canonical_url="https://site.example/",
        host="site.example",
        created_at=BEGIN,
        updated_at=BEGIN,
        options=Options(interval_seconds=INTERVAL),
    )
    state = TargetState(sequence=1, due_at=BEGIN)
    closed: list[Tally] = []
    incidents: dict[str, tuple[datetime, datetime | None]] = {}
    for number, each in enumerate(seen):
        result = CheckResult(
            id=str(number),
            checked_at=each.at,
            outcome=each.outcome,
            late_ms=0,
            latency_ms=each.latency_ms,
            error=ERROR if each.outcome is Outcome.DOWN else None,
        )
        made = step(Watched(target=target, state=state), result, each.at)
        state = made.state
        closed += [hour.tally for hour in made.closed]
        if made.incident is not None:
            incidents[made.incident.id] = made.incident.started_at, made.incident.ended_at
    assert state.hour is not None
    tally = sum([*closed, state.hour.tally], Tally())
    return Found(tally, list(incidents.values()), len(closed) + 1)


def expected_incidents(seen: list[Seen]) -> list[tuple[datetime, datetime | None]]:
    """Three failures in a row open one at the first of them, two successes end it."""
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
    """From each check to the next one, for three intervals at most."""
    total = 0.0
    for one, following in itertools.pairwise(seen):
        if one.outcome is outcome:
            total += min((following.at - one.at).total_seconds(), 3 * INTERVAL)
    return total


def compare(chance: random.Random, target_id: str, days: int, *, flaps: bool) -> Found:
    seen = history(chance, target_id, days, flaps=flaps)
    found = monitored(target_id, seen)
    assert found.incidents == expected_incidents(seen)
    for outcome, name in (
        (Outcome.UP, "up_ms"),
        (Outcome.DOWN, "down_ms"),
        (Outcome.UNKNOWN, "unknown_ms"),
    ):
        seconds = expected_seconds(seen, outcome)
        assert getattr(found.tally, name) / 1000 == pytest.approx(seconds, abs=1e-6)
    assert found.tally.checks == len(seen)
    assert found.tally.failed == sum(each.outcome is Outcome.DOWN for each in seen)
    latencies = sorted(each.latency_ms for each in seen if each.outcome is Outcome.UP)
    for share in (0.5, 0.95, 0.99):
        exact = latencies[max(1, math.ceil(share * len(latencies))) - 1]
        found_ms = rules.percentile(found.tally.latencies, share)
        assert found_ms == pytest.approx(exact, rel=rules.LATENCY_ERROR + 0.001, abs=0.5)
    assert found.hours <= days * 24 + 1
    return found


def test_a_few_days_are_as_the_oracle_says() -> None:
    chance = random.Random(1)
    found = [compare(chance, f"t_{number}", 4, flaps=number % 2 == 0) for number in range(6)]
    assert sum(len(each.incidents) for each in found) > 10


@pytest.mark.heavy
@pytest.mark.timeout(900)
def test_a_month_is_as_the_oracle_says() -> None:
    """The hundred flapping ones of 10,000 targets, and a hundred of the steady ones, which are all
    alike: 1.7 million checks."""
    chance = random.Random(2)
    found = [compare(chance, f"t_{number}", 30, flaps=number % 2 == 0) for number in range(200)]
    assert sum(len(each.incidents) for each in found) > 5000


def test_every_latency_is_within_the_stated_error_of_its_bucket() -> None:
    for latency in [*range(1, 3000), *range(3000, 70_000, 37)]:
        shown = rules.latency_of(rules.bucket_of(latency))
        assert shown == pytest.approx(latency, rel=rules.LATENCY_ERROR, abs=0.5)
    buckets = [rules.bucket_of(latency) for latency in range(1, 70_000)]
    assert buckets == sorted(buckets)


def test_a_year_of_days_and_a_week_of_hours_fit_a_page_of_a_query() -> None:
    """A query answers 1 MB; numbers take a byte for two digits and one more (DynamoDB)."""
    most = rules.bucket_of(60_000) + 1
    durations = 7 * (len("maintenance_down_ms") + 6)
    latencies = sum(len(f"l{bucket}") + 4 for bucket in range(most))
    keys = 2 * len("pk") + 150 + len("purge_at") + 6
    assert 366 * (durations + latencies + keys) < 1_000_000


def test_a_bucket_that_nobody_fills_is_not_kept() -> None:
    seen = [Seen(BEGIN, Outcome.UP, 5), Seen(BEGIN + timedelta(seconds=300), Outcome.UP, 5)]
    tally = monitored("t_1", [replace(each) for each in seen]).tally
    assert list(tally.latencies.values()) == [2]

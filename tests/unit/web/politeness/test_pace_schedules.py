"""Under every schedule: no full window, no short gap, one probe at a time, no endless wait.

A world's seed reproduces its run; see `pace_world`.
"""

import itertools
import os
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace

import pytest

from spinneret.web import limits
from spinneret.web.politeness.models import PaceLimits
from tests.simulation.run import actor_threads, silent_logs
from tests.unit.web.politeness.pace_world import (
    REQUEST_MAX_SECONDS,
    SECOND,
    Arrival,
    Asked,
    PaceWorld,
    RunLog,
    WorldConfig,
    lease_us,
)

SEEDS = int(os.environ.get("SPINNERET_PACE_SEEDS", "10"))
MS = 1000

BUCKET = PaceLimits(rate=2, burst=3)
DELAY = PaceLimits(rate=2, burst=3, min_gap_seconds=2)
LONG_DELAY = PaceLimits(rate=2, burst=3, min_gap_seconds=30)
SLOW = PaceLimits(rate=0.2, burst=5)
SLOWER = PaceLimits(rate=1 / 30, burst=4)
OWN_GAP = PaceLimits(rate=2, burst=3, own_gap_seconds=5)
PATIENT = PaceLimits(rate=2, burst=3, min_gap_seconds=2, own_gap_seconds=20)
ALIKE = WorldConfig(stage=BUCKET, paces=(BUCKET,) * 8)
MIXED = WorldConfig(stage=BUCKET, paces=(BUCKET, SLOW, SLOWER, OWN_GAP) * 2)
WORLDS = {
    "alike": ALIKE,
    "skewed": replace(ALIKE, skew_seconds=5.0),
    "crashes and losses": replace(ALIKE, crashes=0.03, lost=0.1),
    "retry_afters": replace(ALIKE, retry_afters=0.2),
    "a crawl-delay": WorldConfig(stage=BUCKET, paces=(DELAY,) * 6),
    "a crawl-delay, skewed, crashes and losses": WorldConfig(
        stage=BUCKET, paces=(LONG_DELAY,) * 4, skew_seconds=5.0, crashes=0.03, lost=0.1
    ),
    "a crawl-delay at some origins": WorldConfig(
        stage=BUCKET, paces=(BUCKET, BUCKET, DELAY) * 2, crashes=0.02, lost=0.05
    ),
    "tenants of different paces": MIXED,
    "tenants of different paces, skewed": replace(MIXED, skew_seconds=5.0),
    "tenants of different paces, crashes and losses": replace(MIXED, crashes=0.03, lost=0.1),
    "tenants at a crawl-delay": WorldConfig(
        stage=BUCKET, paces=(DELAY, PATIENT, PATIENT) * 2, crashes=0.02
    ),
    "an outage": WorldConfig(stage=BUCKET, paces=(BUCKET,) * 8, down_until=400.0, requests=6),
    "an outage among crashes": WorldConfig(
        stage=BUCKET,
        paces=(BUCKET, BUCKET, SLOW) * 2,
        down_until=1000.0,
        crashes=0.05,
        lost=0.1,
        skew_seconds=5.0,
    ),
    "everything": WorldConfig(
        stage=BUCKET,
        paces=(BUCKET, SLOW, DELAY, OWN_GAP, PATIENT) * 2,
        down_until=700.0,
        crashes=0.05,
        lost=0.05,
        retry_afters=0.1,
        skew_seconds=5.0,
    ),
}


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with silent_logs(), actor_threads() as pool:
        yield pool


QUICK_WORLDS = {"a crawl-delay, skewed, crashes and losses"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK_WORLDS else pytest.mark.heavy)
        for name in WORLDS
    ],
)
def test_every_schedule_is_polite_and_comes_to_its_end(name: str, threads: Executor) -> None:
    weather = WORLDS[name]
    openings = dead_probers = 0
    for seed in range(SEEDS):
        log = PaceWorld(seed, weather, threads).run()
        context = f"world {name!r}, seed {seed}"
        check_windows(log, weather, context)
        check_gaps(log, context)
        assert log.most_probes <= 1, f"{context}: several probes in flight"
        assert log.finished == len(weather.paces) * weather.requests, context
        check_patience(log, weather, context)
        openings, dead_probers = openings + log.openings, dead_probers + log.dead_probers
    assert bool(openings) == bool(weather.down_until)
    if weather.down_until and weather.crashes:
        assert dead_probers


def test_a_seed_repeats_its_run(threads: Executor) -> None:
    weather = WORLDS["everything"]
    one, again = (PaceWorld(7, weather, threads).run() for _ in range(2))
    assert one == again
    assert one.crashes > 0


def check_windows(log: RunLog, weather: WorldConfig, context: str) -> None:
    """Check GCRA's bound: the stage's for all tenants together, and each pace's own.

    The difference between the clocks widens every window.
    """
    check_window(weather.stage, log.asked, log.spread, context)
    for pace in set(weather.paces):
        own = [asked for asked in log.asked if asked.pace == pace]
        check_window(PaceLimits(rate=pace.rate, burst=pace.burst), own, log.spread, context)


def check_window(bound: PaceLimits, every: list[Asked], spread: int, context: str) -> None:
    interval, tolerance = bound.interval_ms * MS, (bound.burst - 1) * bound.interval_ms * MS
    moments = sorted(asked.at for asked in every)
    for first, last in itertools.combinations(range(len(moments)), 2):
        width = moments[last] - moments[first] + spread + MS
        admitted = last - first + 1
        assert (admitted - 1) * interval <= width + tolerance, f"{context}: {admitted} in {width}"


def check_gaps(log: RunLog, context: str) -> None:
    """Check the gap at the host between a request and the next one that was admitted after it.

    A crawl-delay applies to the next request of any caller, a tenant's own gap to the same pace.
    """
    for first, then in itertools.pairwise(log.arrivals):
        if first.pace.min_gap_seconds:
            shared = max(first.pace.min_gap_seconds, then.pace.min_gap_seconds or 0.0)
            check_gap(first, then, shared, log.spread, context)
    for pace in {each.pace for each in log.arrivals}:
        own = [each for each in log.arrivals if each.pace == pace]
        for first, then in itertools.pairwise(own):
            check_gap(first, then, pace.gap_seconds, log.spread, context)


def check_gap(first: Arrival, then: Arrival, seconds: float, spread: int, context: str) -> None:
    if then.admitted_at > first.admitted_at:
        gap = then.at - first.at
        assert gap >= seconds * SECOND - spread, f"{context}: {gap} µs"


def check_patience(log: RunLog, weather: WorldConfig, context: str) -> None:
    """Check that no caller waits longer than all requests that could precede its own could take."""
    interval = max(pace.interval_ms for pace in weather.paces) * MS
    one = interval + SECOND
    if any(pace.strict for pace in weather.paces):
        one += interval + 2 * SECOND
    bound = 2 * one * len(log.asked) + log.spread
    bound += log.crashes * (lease_us() + interval) + log.retry_afters * 60 * SECOND
    bound += round(REQUEST_MAX_SECONDS * SECOND) * len(log.asked) // 5
    reopened = round((limits.BREAKER_OPEN_SECONDS + limits.HOST_LEASE_SECONDS) * SECOND)
    bound += log.openings * reopened
    worst = max(asked.waited for asked in log.asked)
    assert worst <= bound, f"{context}: {worst / SECOND} s"

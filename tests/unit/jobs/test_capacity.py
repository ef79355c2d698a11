"""The kernel under load: waits end in time, lanes aren't flooded, and no job is lost."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from spinneret.jobs import limits
from spinneret.outbox import limits as outbox_limits
from tests.fakes.jobs import FakeJobStore
from tests.sampling import sampled
from tests.simulation.capacity import Capacity
from tests.simulation.loads import LARGE
from tests.simulation.planted import (
    ForgetsReservations,
    NeverResends,
    NeverSweeps,
    ResendsFirst,
    SpacesAlways,
)
from tests.simulation.run import silent_logs

SEEDS = 120
TESTED = 5
"""Number of blocks of seeds that `make test` runs."""
BLOCK = 5
QUICK_BLOCK = 2
BUSY = replace(LARGE, jobs=3000)
"""Load with enough jobs to fill a sweeper pass."""
STORM = replace(LARGE, jobs=5000, per_minute=3_000_000.0, pollers=LARGE.jobs, plans={"plain": 1})
"""Load whose jobs all end within two seconds."""
LOSSY = replace(LARGE, jobs=100, per_minute=30.0, lost=0.6)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with silent_logs():
        yield


@pytest.mark.parametrize(
    "seeds",
    sampled(
        [
            range(QUICK_BLOCK),
            range(QUICK_BLOCK, BLOCK),
            *(range(first, first + BLOCK) for first in range(BLOCK, SEEDS, BLOCK)),
        ],
        tested=TESTED,
    ),
    ids=str,
)
@pytest.mark.heavy
def test_small_loads_under_faults_keep_their_times(seeds: range) -> None:
    for seed in seeds:
        report = Capacity(seed).run()
        assert not report.violations, f"seed {seed}: {report}"


@pytest.mark.heavy
def test_a_lane_that_fills_faster_than_it_drains_delays_no_wait_and_no_lease() -> None:
    report = Capacity(1, BUSY).run()
    assert not report.violations, report
    assert report.longest_lane > 1000
    assert report.messages <= 1.2 * report.jobs
    assert report.longest_pass <= limits.SWEEP_SECONDS + 1


@pytest.mark.heavy
@pytest.mark.parametrize("jobs", [STORM.jobs, pytest.param(LARGE.jobs, marks=pytest.mark.proof)])
def test_a_storm_of_ends_is_handed_on_in_time(jobs: int) -> None:
    """A tenth of the writers die, which leaves some 500, or 2,000, events to one sweep."""
    storm = replace(STORM, jobs=jobs, per_minute=jobs * 600.0)
    report = Capacity(1, storm).run()
    assert not report.violations, report


@pytest.mark.heavy
@pytest.mark.proof
def test_a_storm_whose_ends_are_handed_on_one_by_one_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outbox_limits, "OUTBOX_RELAYS", 1)
    report = Capacity(1, STORM).run()
    assert any("event" in each for each in report.violations), report


@pytest.mark.heavy
@pytest.mark.proof
def test_resends_before_wakes_are_found_out() -> None:
    report = Capacity(1, BUSY, ResendsFirst).run()
    assert any("late" in each for each in report.violations), report


@pytest.mark.heavy
@pytest.mark.proof
def test_a_lost_message_that_is_never_replaced_is_found_out() -> None:
    report = Capacity(1, BUSY, NeverResends).run()
    assert any("lost" in each for each in report.violations), report


def test_an_event_whose_writer_died_and_that_nobody_sweeps_is_found_out() -> None:
    report = Capacity(1, LOSSY, relay_of=NeverSweeps).run()
    assert any("handed on" in each for each in report.violations), report


@pytest.mark.heavy
def test_a_message_that_is_lost_again_and_again_is_replaced_in_time() -> None:
    report = Capacity(1, LOSSY).run()
    assert not report.violations, report
    assert report.messages > 2 * report.jobs


@pytest.mark.heavy
def test_a_message_that_is_lost_again_and_replaced_late_is_found_out() -> None:
    report = Capacity(1, LOSSY, SpacesAlways).run()
    assert any("lost" in each for each in report.violations), report


@pytest.mark.heavy
@pytest.mark.proof
def test_a_wait_that_is_reserved_twice_is_found_out() -> None:
    store: FakeJobStore = ForgetsReservations()
    report = Capacity(1, BUSY, store=store).run()
    assert any("twice" in each for each in report.violations), report

"""The job kernel in a simulated world: no schedule loses, duplicates or blocks a job.

`python benchmarks/simulate.py --seed N` prints the steps of a failing seed.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from typing import Any

import pytest

from spinneret.jobs.models import JobStatus
from spinneret.kernel import bounds
from tests.fakes.crashes import Moment
from tests.sampling import sampled
from tests.simulation.crash_points import FLOWS, Followed, follow
from tests.simulation.interleaved import every_schedule, is_right
from tests.simulation.planted import (
    CountsTwice,
    EndsEarly,
    ForgetsAmendments,
    KeepsFirstEnds,
    KeepsKeysFromCreation,
    LosesEvents,
    MissesNobody,
    NeverSweeps,
)
from tests.simulation.policies import POLICIES
from tests.simulation.run import actor_threads, silent_logs, simulate

PLANTED: Mapping[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "an end without its event": (lambda: {"store": LosesEvents(POLICIES)}, "waits for ever"),
    "an amendment that nobody does": (
        lambda: {"store": ForgetsAmendments(POLICIES)},
        "outcome and end differ",
    ),
    "a child counted twice": (lambda: {"store": CountsTwice(POLICIES)}, "instead of ChildCounts"),
    "a parent that ends early": (lambda: {"ends_of": EndsEarly}, "while a child was alive"),
    "an execution that nobody misses": (
        lambda: {"store": MissesNobody(POLICIES)},
        "waits for ever",
    ),
    "counters purged after the first end": (
        lambda: {"store": KeepsFirstEnds(POLICIES)},
        "counters was purged before it",
    ),
    "a duplicate key purged before its job": (
        lambda: {"store": KeepsKeysFromCreation(POLICIES)},
        "key was purged before it",
    ),
    "no sweep": (lambda: {"relay_of": NeverSweeps}, "waits for ever"),
}
"""Planted faults, each with the text of the violation that reveals it."""
SEEDS = 30
"""Number of seeds that the tests run; `make prove` runs 10,000."""
BLOCK = 25
QUICK_BLOCK = 5
PAIRS_STEP = int(os.environ.get("SPINNERET_PAIRS_STEP", "25"))
"""Each `PAIRS_STEP`-th second crash is tested; `make prove` tests all of them."""
QUICK_FLOWS = {"postpone", "side effect"}
DONE = {
    "fail": JobStatus.FAILED,
    "fail and begin again": JobStatus.FAILED,
    "kill every worker": JobStatus.FAILED,
    "cancel": JobStatus.CANCELLED,
}


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    """Provide threads on which actors run, one at a time."""
    with silent_logs(), actor_threads() as pool:
        yield pool


def followed(flow: str, points: Mapping[int, Moment], threads: Executor) -> Followed:
    """Run the flow with crashes and check every invariant of a job.

    Two crashes and the flow's own failure may use up the attempts.
    """
    recorded = follow(FLOWS[flow], points, threads)
    assert not recorded.violations, f"{flow}, {points}: {recorded.violations}\n{recorded.trace}"
    [job] = recorded.jobs
    used_up = job.attempts == bounds.JOB_MAX_ATTEMPTS == len(points) + 1
    ends = FLOWS[flow].ends | ({JobStatus.FAILED} if used_up else set())
    assert job.status in ends, f"{flow}, {points}: {job.status}\n{recorded.trace}"
    return recorded


@pytest.mark.parametrize(
    "seeds",
    sampled(
        [
            range(QUICK_BLOCK),
            *(range(first, first + BLOCK) for first in range(QUICK_BLOCK, SEEDS, BLOCK)),
        ]
    ),
    ids=str,
)
def test_every_schedule_keeps_the_promises_of_a_job(seeds: range, threads: Executor) -> None:
    for seed in seeds:
        report = simulate(seed, threads)
        assert not report.violations, "\n".join([f"seed {seed}", *map(str, report.trace)])


def test_a_seed_tells_the_same_story_every_time() -> None:
    def lines() -> list[str]:
        return [str(step) for step in simulate(7).trace]

    recorded = lines()
    assert len(recorded) > 20
    assert lines() == recorded


@pytest.mark.parametrize("planted", sampled(PLANTED, quick=0, tested=4))
def test_a_planted_fault_is_found_out(planted: str, threads: Executor) -> None:
    plant, finding = PLANTED[planted]
    for seed in range(2 * BLOCK):
        report = simulate(seed, threads, **plant())
        if report.violations:
            break
    assert any(finding in each for each in report.violations), report.violations


@pytest.mark.parametrize("counter", sampled([1, 0], quick=0, tested=1))
def test_two_last_children_end_their_parent_once_however_they_interleave(
    counter: int, threads: Executor
) -> None:
    """The second child counts in the parent's other counter, or in the same one."""
    seen = 0
    for ended in every_schedule(threads, (0, counter)):
        seen += 1
        assert is_right(ended), f"{ended.schedule}: {ended.parent.status}, {ended.violations}"
    assert seen > 100


def test_a_parent_that_ends_early_is_found_out_by_interleaving(threads: Executor) -> None:
    assert not all(map(is_right, every_schedule(threads, (0, 1), EndsEarly)))


@pytest.mark.parametrize("flow", list(FLOWS))
def test_a_flow_without_a_crash_ends_as_it_should(flow: str, threads: Executor) -> None:
    recorded = followed(flow, {}, threads)
    [job] = recorded.jobs
    assert job.status is DONE.get(flow, JobStatus.COMPLETED)
    charged = {
        "fail": 1,
        "fail and begin again": 1,
        "wait": 1,
        "lose the worker": 1,
        "kill every worker": bounds.JOB_MAX_ATTEMPTS,
    }
    assert (job.attempts, job.redrives) == (charged.get(flow, 0), 0)
    assert job.run == (2 if flow == "fail and begin again" else 1)


# covers P-04
@pytest.mark.parametrize(
    "flow",
    [pytest.param(flow, marks=() if flow in QUICK_FLOWS else pytest.mark.heavy) for flow in FLOWS],
)
def test_a_process_that_dies_at_any_call_loses_and_doubles_nothing(
    flow: str, threads: Executor
) -> None:
    calls = followed(flow, {}, threads).calls
    assert {"store.submit", "queue.send", "store.claim", "store.transition"} <= set(calls)
    for number in range(1, len(calls) + 1):
        for moment in (Moment.BEFORE, Moment.AFTER):
            assert followed(flow, {number: moment}, threads).crashes == 1


@pytest.mark.parametrize("flow", sampled(reversed(FLOWS), quick=0, tested=4))
def test_two_processes_that_die_at_any_two_calls_lose_and_double_nothing(
    flow: str, threads: Executor
) -> None:
    """The second crash may hit the recovery from the first one.

    A crash before a call equals one after the same process's last call, so only the latter are
    tested.
    """
    for first in range(1, len(followed(flow, {}, threads).calls) + 1):
        calls = followed(flow, {first: Moment.AFTER}, threads).calls
        for second in range(first + 1 + first % PAIRS_STEP, len(calls) + 1, PAIRS_STEP):
            followed(flow, {first: Moment.AFTER, second: Moment.AFTER}, threads)

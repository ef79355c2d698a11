"""A parent ends once, after all its children, despite crashes and duplicate messages."""

from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from spinneret.jobs import limits, rules
from spinneret.jobs.models import Job, JobStatus, Transition
from spinneret.jobs.parents import ParentEnds
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, LeaseLost
from tests.fakes.crashes import CrashPlan, Moment
from tests.fakes.time import START
from tests.sampling import sampled
from tests.simulation.planted import CountsTwice, EndsEarly
from tests.unit.jobs.parent_world import ParentWorld
from tests.unit.jobs.submissions import finish

MANY = 3 * bounds.CHILDREN_PER_WRITE + 1


def completed(job: Job) -> Job:
    return rules.complete(job, {}, START)


def test_a_parent_ends_with_its_last_child() -> None:
    scenario = ParentWorld(MANY)
    scenario.deliver()
    parent = scenario.job(scenario.parent)
    assert (parent.status, scenario.counts().created) == (JobStatus.RUNNING, MANY)
    while scenario.queue.sent:
        assert scenario.ended == []
        scenario.deliver()
    assert scenario.ended == [JobStatus.COMPLETED]
    result = scenario.job(scenario.parent).result
    assert result is not None
    assert (result["completed_count"], result["pending_count"]) == (MANY, 0)


def test_the_promised_children_are_made_and_no_others() -> None:
    scenario = ParentWorld(MANY)
    scenario.deliver()
    assert [child.id for child in scenario.children()] == sorted(scenario.reply["jobs"])
    assert {child.batch for child in scenario.children()} == {scenario.parent.job_id}


def test_a_draft_that_another_job_does_is_reported_and_not_awaited() -> None:
    scenario = ParentWorld(3)
    scenario.deliver()
    scenario.parent = scenario.submit(4)
    assert scenario.reply["duplicates"] == 3
    scenario.settle()
    assert scenario.counts().created == 1


@pytest.mark.parametrize(
    ("failing", "status"),
    [(0, JobStatus.COMPLETED), (1, JobStatus.PARTIALLY_FAILED), (3, JobStatus.FAILED)],
)
def test_the_end_of_a_parent_follows_from_those_of_its_children(
    failing: int, status: JobStatus
) -> None:
    scenario = ParentWorld(3, lambda job: job.payload["n"] < failing)
    scenario.settle()
    assert scenario.ended == [status]
    assert scenario.counts() == scenario.true_counts()


def test_a_parent_without_children_ends_at_once() -> None:
    scenario = ParentWorld(0)
    scenario.deliver()
    assert scenario.ended == [JobStatus.COMPLETED]


def test_a_retry_of_the_parent_runs_only_what_failed() -> None:
    scenario = ParentWorld(MANY, lambda job: job.payload["n"] in (4, 30))
    scenario.settle()
    scenario.failing = lambda _: False
    scenario.move(scenario.parent, Transition.RETRY)
    scenario.settle()
    assert scenario.ended == [JobStatus.PARTIALLY_FAILED, JobStatus.COMPLETED]
    assert sorted(scenario.worked.values()) == [1] * (MANY - 2) + [2, 2]


def test_what_fails_again_in_a_retry_is_not_retried_a_second_time() -> None:
    scenario = ParentWorld(3, lambda job: job.payload["n"] == 1)
    scenario.settle()
    scenario.move(scenario.parent, Transition.RETRY)
    scenario.settle()
    assert scenario.ended == [JobStatus.PARTIALLY_FAILED] * 2
    assert sorted(scenario.worked.values()) == [1, 1, 2]


def test_a_retry_of_one_child_reopens_its_finished_parent() -> None:
    scenario = ParentWorld(3, lambda job: job.payload["n"] == 1)
    scenario.settle()
    scenario.failing = lambda _: False
    [failed] = [child for child in scenario.children() if child.status is JobStatus.FAILED]
    scenario.move(failed.ref, Transition.RETRY)
    reopened = scenario.job(scenario.parent)
    assert (reopened.status, reopened.run) == (JobStatus.RUNNING, 2)
    scenario.settle()
    assert scenario.ended == [JobStatus.PARTIALLY_FAILED, JobStatus.COMPLETED]
    assert scenario.job(scenario.parent).last_error is None


def test_a_parent_that_failed_before_it_had_made_all_children_is_not_reopened_by_one() -> None:
    scenario = ParentWorld(MANY, lambda job: job.payload["n"] == 1)
    for at in (8, 3, 3):  # its worker dies in every attempt
        scenario.run(scenario.parent, CrashPlan(at=at))
        scenario.sweep()
    while scenario.deliver():
        pass
    failed = scenario.job(scenario.parent)
    assert (failed.status, scenario.counts().created < MANY) == (JobStatus.FAILED, True)
    scenario.failing = lambda _: False
    [child] = [child for child in scenario.children() if child.status is JobStatus.FAILED]
    scenario.move(child.ref, Transition.RETRY)
    while scenario.deliver():
        pass
    assert scenario.job(scenario.parent).status is JobStatus.FAILED
    scenario.move(scenario.parent, Transition.RETRY)
    scenario.settle()
    assert scenario.ended == [JobStatus.FAILED, JobStatus.COMPLETED]
    assert scenario.counts().completed == MANY


def test_a_child_of_a_cancelled_parent_is_not_retried() -> None:
    scenario = ParentWorld(2, lambda job: job.payload["n"] == 0)
    scenario.deliver()
    scenario.deliver()
    scenario.move(scenario.parent, Transition.CANCEL)
    [failed] = [child for child in scenario.children() if child.status is JobStatus.FAILED]
    with pytest.raises(Conflict):
        scenario.move(failed.ref, Transition.RETRY)


def test_a_cancelled_parent_cancels_what_has_not_ended_in_as_many_passes_as_it_takes() -> None:
    scenario = ParentWorld(limits.CHILDREN_CANCELLED_PER_REQUEST + 50)
    scenario.deliver()
    scenario.deliver()
    scenario.move(scenario.parent, Transition.CANCEL)
    assert scenario.counts().cancelled == limits.CHILDREN_CANCELLED_PER_REQUEST - 1
    scenario.queue.take()
    scenario.sweep()
    assert scenario.counts() == scenario.true_counts()
    assert (scenario.counts().completed, scenario.counts().pending) == (1, 0)
    scenario.sweep()
    family = scenario.job(scenario.parent).family
    assert family is not None
    assert family.settled


@pytest.mark.heavy
def test_paused_children_beyond_one_pass_are_cancelled_by_the_next() -> None:
    scenario = ParentWorld(limits.CHILDREN_CANCELLED_PER_PASS + 3 * bounds.LIST_LIMIT_MAX)
    scenario.deliver()
    scenario.move(scenario.parent, Transition.PAUSE)
    while scenario.deliver():
        pass
    assert {child.status for child in scenario.children()} == {JobStatus.PAUSED}
    scenario.move(scenario.parent, Transition.CANCEL)
    for _ in range(3):
        scenario.sweep()
    assert {child.status for child in scenario.children()} == {JobStatus.CANCELLED}


def test_a_child_that_is_claimed_after_its_parent_was_cancelled_does_not_work() -> None:
    scenario = ParentWorld(3)
    scenario.deliver()
    scenario.move(scenario.parent, Transition.CANCEL, CrashPlan(at=3))  # crashes before it cancels
    scenario.settle()
    assert scenario.worked == {}
    assert scenario.counts().cancelled == 3


def test_a_paused_parent_lets_its_children_rest_until_it_is_resumed() -> None:
    scenario = ParentWorld(3)
    scenario.deliver()
    scenario.move(scenario.parent, Transition.PAUSE)
    while scenario.deliver():
        pass
    assert scenario.worked == {}
    assert {child.status for child in scenario.children()} == {JobStatus.PAUSED}
    scenario.move(scenario.parent, Transition.RESUME)
    scenario.settle()
    assert scenario.ended == [JobStatus.COMPLETED]


def test_a_parent_that_is_resumed_resumes_the_children_that_rest() -> None:
    scenario = ParentWorld(2)
    scenario.deliver()
    scenario.move(scenario.children()[0].ref, Transition.PAUSE)
    for move in (Transition.PAUSE, Transition.RESUME):
        scenario.move(scenario.parent, move)
    scenario.settle()
    assert scenario.ended == [JobStatus.COMPLETED]


def test_children_that_end_while_others_are_made_end_no_parent() -> None:
    scenario = ParentWorld(MANY)
    scenario.run(scenario.parent, CrashPlan(at=8))
    assert 0 < scenario.counts().created < MANY
    while scenario.deliver(number=1):
        pass
    assert scenario.ended == []
    scenario.settle()
    assert (scenario.ended, scenario.counts().completed) == ([JobStatus.COMPLETED], MANY)


@pytest.mark.heavy
def test_a_process_that_dies_at_any_call_loses_and_doubles_no_child_and_no_end() -> None:
    for at in range(1, 60):
        for moment in (Moment.BEFORE, Moment.AFTER):
            scenario = ParentWorld(bounds.CHILDREN_PER_WRITE + 2, lambda job: job.payload["n"] == 3)
            plan = CrashPlan(at=at, moment=moment)
            scenario.run(scenario.parent, plan)
            while not plan.crashed and scenario.deliver(plan):
                pass
            scenario.settle()
            assert scenario.ended == [JobStatus.PARTIALLY_FAILED], (at, moment)
            assert scenario.counts() == scenario.true_counts(), (at, moment)
            assert scenario.counts().created == bounds.CHILDREN_PER_WRITE + 2, (at, moment)


def follow(seed: int, **given: Any) -> ParentWorld:
    """Run a random schedule of messages, sweeps, crashes and the tenant's moves; then settle."""
    rng = Random(seed)
    scenario = ParentWorld(rng.choice([1, 5, 45]), lambda _: rng.random() < 0.2, **given)
    for _ in range(60):
        plan = CrashPlan(rng.randrange(1, 12), rng.choice([Moment.BEFORE, Moment.AFTER]))
        dying = plan if rng.random() < 0.4 else None
        subject = rng.choice([scenario.job(scenario.parent), *scenario.children()]).ref
        match rng.randrange(8):
            case 0:
                scenario.sweep(dying)
            case 1:
                scenario.send(subject)
            case 2 | 3:
                move = rng.choice([Transition.PAUSE, Transition.RESUME, Transition.RETRY])
                with suppress(Conflict):
                    scenario.move(subject, move, dying)
            case _:
                scenario.deliver(dying, rng.randrange(100))
        assert scenario.counts() == scenario.true_counts()
    for job in [scenario.job(scenario.parent), *scenario.children()]:
        if job.status is JobStatus.PAUSED:
            scenario.move(job.ref, Transition.RESUME)
    scenario.settle()
    return scenario


@pytest.mark.parametrize("seed", sampled(range(30), quick=6))
def test_counters_are_exact_under_deaths_duplicates_and_the_tenants_moves(seed: int) -> None:
    scenario = follow(seed)
    assert scenario.counts() == scenario.true_counts()
    assert not scenario.ended_early


def test_two_last_children_of_two_counters_end_the_parent_once() -> None:
    scenario = ParentWorld(limits.CHILDREN_PER_SHARD)
    scenario.deliver()
    ends = ParentEnds(store=scenario.noted, clock=scenario.clock)
    # Both workers stop after their last child's end, before they end the parent.
    for child in scenario.children():
        finish(scenario.store, child.id, scenario.clock, lambda job: rules.complete(job, {}, START))
    assert len({child.parent_shard for child in scenario.children()}) == 2
    shards = scenario.children()[0].parent_shard, scenario.children()[-1].parent_shard
    assert [ends.end(scenario.parent, shard) for shard in shards] == [True, False]
    assert scenario.ended == [JobStatus.COMPLETED]


def test_a_parent_does_not_end_while_a_child_begins_again() -> None:
    scenario = ParentWorld(1, lambda _: True)
    scenario.deliver()
    scenario.deliver()
    [child] = scenario.children()
    assert scenario.ended == [JobStatus.FAILED]
    scenario.move(child.ref, Transition.RETRY)
    finish(scenario.store, child.id, scenario.clock, completed)
    parent = scenario.job(scenario.parent)
    [counts] = scenario.store.child_counts(parent.ref, [0])
    ended = rules.end_of(parent, counts, START)
    stale = replace(counts, completed=0, failed=1)
    with pytest.raises(LeaseLost):
        scenario.store.transition(parent, ended, counted=[stale])
    assert scenario.job(scenario.parent).status is JobStatus.RUNNING


@pytest.mark.parametrize("planted", sampled(["ends early", "counts twice"]))
def test_planted_faults_are_found(planted: str) -> None:
    given: dict[str, Any] = (
        {"store": CountsTwice()} if planted == "counts twice" else {"ends": EndsEarly}
    )
    found = False
    for seed in range(30):
        try:
            scenario = follow(seed, **given)
            found = scenario.counts() != scenario.true_counts() or scenario.ended_early
        except AssertionError:
            found = True
        if found:
            return
    raise AssertionError("thirty schedules don't show it")

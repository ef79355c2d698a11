"""A parent ends once, when all its children have ended, whatever dies or comes twice."""

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
from tests.unit.jobs.household import ParentScenario
from tests.unit.jobs.submissions import finish

MANY = 3 * bounds.CHILDREN_PER_WRITE + 1


def completed(job: Job) -> Job:
    return rules.complete(job, {}, START)


def test_a_parent_ends_with_its_last_child() -> None:
    household = ParentScenario(MANY)
    household.deliver()
    parent = household.job(household.parent)
    assert (parent.status, household.counts().created) == (JobStatus.RUNNING, MANY)
    while household.queue.sent:
        assert household.ended == []
        household.deliver()
    assert household.ended == [JobStatus.COMPLETED]
    result = household.job(household.parent).result
    assert result is not None
    assert (result["completed_count"], result["pending_count"]) == (MANY, 0)


def test_the_promised_children_are_made_and_no_others() -> None:
    household = ParentScenario(MANY)
    household.deliver()
    assert [child.id for child in household.children()] == sorted(household.reply["jobs"])
    assert {child.batch for child in household.children()} == {household.parent.job_id}


def test_a_draft_that_another_job_does_is_reported_and_not_awaited() -> None:
    household = ParentScenario(3)
    household.deliver()
    household.parent = household.submit(4)
    assert household.reply["duplicates"] == 3
    household.settle()
    assert household.counts().created == 1


@pytest.mark.parametrize(
    ("failing", "status"),
    [(0, JobStatus.COMPLETED), (1, JobStatus.PARTIALLY_FAILED), (3, JobStatus.FAILED)],
)
def test_the_end_of_a_parent_follows_from_those_of_its_children(
    failing: int, status: JobStatus
) -> None:
    household = ParentScenario(3, lambda job: job.payload["n"] < failing)
    household.settle()
    assert household.ended == [status]
    assert household.counts() == household.true_counts()


def test_a_parent_without_children_ends_at_once() -> None:
    household = ParentScenario(0)
    household.deliver()
    assert household.ended == [JobStatus.COMPLETED]


def test_a_retry_of_the_parent_runs_only_what_failed() -> None:
    household = ParentScenario(MANY, lambda job: job.payload["n"] in (4, 30))
    household.settle()
    household.failing = lambda _: False
    household.move(household.parent, Transition.RETRY)
    household.settle()
    assert household.ended == [JobStatus.PARTIALLY_FAILED, JobStatus.COMPLETED]
    assert sorted(household.worked.values()) == [1] * (MANY - 2) + [2, 2]


def test_what_fails_again_in_a_retry_is_not_retried_a_second_time() -> None:
    household = ParentScenario(3, lambda job: job.payload["n"] == 1)
    household.settle()
    household.move(household.parent, Transition.RETRY)
    household.settle()
    assert household.ended == [JobStatus.PARTIALLY_FAILED] * 2
    assert sorted(household.worked.values()) == [1, 1, 2]


def test_a_retry_of_one_child_reopens_its_finished_parent() -> None:
    household = ParentScenario(3, lambda job: job.payload["n"] == 1)
    household.settle()
    household.failing = lambda _: False
    [failed] = [child for child in household.children() if child.status is JobStatus.FAILED]
    household.move(failed.ref, Transition.RETRY)
    reopened = household.job(household.parent)
    assert (reopened.status, reopened.run) == (JobStatus.RUNNING, 2)
    household.settle()
    assert household.ended == [JobStatus.PARTIALLY_FAILED, JobStatus.COMPLETED]
    assert household.job(household.parent).last_error is None


def test_a_parent_that_failed_before_it_had_made_all_children_is_not_reopened_by_one() -> None:
    household = ParentScenario(MANY, lambda job: job.payload["n"] == 1)
    for at in (8, 3, 3):  # its worker dies in every attempt
        household.run(household.parent, CrashPlan(at=at))
        household.sweep()
    while household.deliver():
        pass
    failed = household.job(household.parent)
    assert (failed.status, household.counts().created < MANY) == (JobStatus.FAILED, True)
    household.failing = lambda _: False
    [child] = [child for child in household.children() if child.status is JobStatus.FAILED]
    household.move(child.ref, Transition.RETRY)
    while household.deliver():
        pass
    assert household.job(household.parent).status is JobStatus.FAILED
    household.move(household.parent, Transition.RETRY)
    household.settle()
    assert household.ended == [JobStatus.FAILED, JobStatus.COMPLETED]
    assert household.counts().completed == MANY


def test_a_child_of_a_cancelled_parent_is_not_retried() -> None:
    household = ParentScenario(2, lambda job: job.payload["n"] == 0)
    household.deliver()
    household.deliver()
    household.move(household.parent, Transition.CANCEL)
    [failed] = [child for child in household.children() if child.status is JobStatus.FAILED]
    with pytest.raises(Conflict):
        household.move(failed.ref, Transition.RETRY)


def test_a_cancelled_parent_cancels_what_has_not_ended_in_as_many_passes_as_it_takes() -> None:
    household = ParentScenario(limits.CHILDREN_CANCELLED_PER_REQUEST + 50)
    household.deliver()
    household.deliver()
    household.move(household.parent, Transition.CANCEL)
    assert household.counts().cancelled == limits.CHILDREN_CANCELLED_PER_REQUEST - 1
    household.queue.take()
    household.sweep()
    assert household.counts() == household.true_counts()
    assert (household.counts().completed, household.counts().pending) == (1, 0)
    household.sweep()
    family = household.job(household.parent).family
    assert family is not None
    assert family.settled


@pytest.mark.heavy
def test_paused_children_beyond_one_pass_are_cancelled_by_the_next() -> None:
    household = ParentScenario(limits.CHILDREN_CANCELLED_PER_PASS + 3 * bounds.LIST_LIMIT_MAX)
    household.deliver()
    household.move(household.parent, Transition.PAUSE)
    while household.deliver():
        pass
    assert {child.status for child in household.children()} == {JobStatus.PAUSED}
    household.move(household.parent, Transition.CANCEL)
    for _ in range(3):
        household.sweep()
    assert {child.status for child in household.children()} == {JobStatus.CANCELLED}


def test_a_child_that_is_claimed_after_its_parent_was_cancelled_does_not_work() -> None:
    household = ParentScenario(3)
    household.deliver()
    household.move(
        household.parent, Transition.CANCEL, CrashPlan(at=3)
    )  # dies before it cancels any
    household.settle()
    assert household.worked == {}
    assert household.counts().cancelled == 3


def test_a_paused_parent_lets_its_children_rest_until_it_is_resumed() -> None:
    household = ParentScenario(3)
    household.deliver()
    household.move(household.parent, Transition.PAUSE)
    while household.deliver():
        pass
    assert household.worked == {}
    assert {child.status for child in household.children()} == {JobStatus.PAUSED}
    household.move(household.parent, Transition.RESUME)
    household.settle()
    assert household.ended == [JobStatus.COMPLETED]


def test_a_parent_that_is_resumed_resumes_the_children_that_rest() -> None:
    household = ParentScenario(2)
    household.deliver()
    household.move(household.children()[0].ref, Transition.PAUSE)
    for move in (Transition.PAUSE, Transition.RESUME):
        household.move(household.parent, move)
    household.settle()
    assert household.ended == [JobStatus.COMPLETED]


def test_children_that_end_while_others_are_made_end_no_parent() -> None:
    household = ParentScenario(MANY)
    household.run(household.parent, CrashPlan(at=8))
    assert 0 < household.counts().created < MANY
    while household.deliver(number=1):
        pass
    assert household.ended == []
    household.settle()
    assert (household.ended, household.counts().completed) == ([JobStatus.COMPLETED], MANY)


@pytest.mark.heavy
def test_a_process_that_dies_at_any_call_loses_and_doubles_no_child_and_no_end() -> None:
    for at in range(1, 60):
        for moment in (Moment.BEFORE, Moment.AFTER):
            household = ParentScenario(
                bounds.CHILDREN_PER_WRITE + 2, lambda job: job.payload["n"] == 3
            )
            plan = CrashPlan(at=at, moment=moment)
            household.run(household.parent, plan)
            while not plan.crashed and household.deliver(plan):
                pass
            household.settle()
            assert household.ended == [JobStatus.PARTIALLY_FAILED], (at, moment)
            assert household.counts() == household.true_counts(), (at, moment)
            assert household.counts().created == bounds.CHILDREN_PER_WRITE + 2, (at, moment)


def follow(seed: int, **given: Any) -> ParentScenario:
    """A random schedule of messages, passes, deaths and the tenant's moves, then calm."""
    rng = Random(seed)
    household = ParentScenario(rng.choice([1, 5, 45]), lambda _: rng.random() < 0.2, **given)
    for _ in range(60):
        plan = CrashPlan(rng.randrange(1, 12), rng.choice([Moment.BEFORE, Moment.AFTER]))
        dying = plan if rng.random() < 0.4 else None
        subject = rng.choice([household.job(household.parent), *household.children()]).ref
        match rng.randrange(8):
            case 0:
                household.sweep(dying)
            case 1:
                household.send(subject)
            case 2 | 3:
                move = rng.choice([Transition.PAUSE, Transition.RESUME, Transition.RETRY])
                with suppress(Conflict):
                    household.move(subject, move, dying)
            case _:
                household.deliver(dying, rng.randrange(100))
        assert household.counts() == household.true_counts()
    for job in [household.job(household.parent), *household.children()]:
        if job.status is JobStatus.PAUSED:
            household.move(job.ref, Transition.RESUME)
    household.settle()
    return household


@pytest.mark.parametrize("seed", sampled(range(30), quick=6))
def test_counters_are_exact_under_deaths_duplicates_and_the_tenants_moves(seed: int) -> None:
    household = follow(seed)
    assert household.counts() == household.true_counts()
    assert not household.ended_early


def test_two_last_children_of_two_counters_end_the_parent_once() -> None:
    household = ParentScenario(limits.CHILDREN_PER_SHARD)
    household.deliver()
    ends = ParentEnds(store=household.noted, clock=household.clock)
    # Both workers stand still after their last child's end.
    for child in household.children():
        finish(
            household.store, child.id, household.clock, lambda job: rules.complete(job, {}, START)
        )
    assert len({child.parent_shard for child in household.children()}) == 2
    shards = household.children()[0].parent_shard, household.children()[-1].parent_shard
    assert [ends.end(household.parent, shard) for shard in shards] == [True, False]
    assert household.ended == [JobStatus.COMPLETED]


def test_a_parent_does_not_end_while_a_child_begins_again() -> None:
    household = ParentScenario(1, lambda _: True)
    household.deliver()
    household.deliver()
    [child] = household.children()
    assert household.ended == [JobStatus.FAILED]
    household.move(child.ref, Transition.RETRY)
    finish(household.store, child.id, household.clock, completed)
    parent = household.job(household.parent)
    [counts] = household.store.child_counts(parent.ref, [0])
    ended = rules.end_of(parent, counts, START)
    stale = replace(counts, completed=0, failed=1)
    with pytest.raises(LeaseLost):
        household.store.transition(parent, ended, counted=[stale])
    assert household.job(household.parent).status is JobStatus.RUNNING


@pytest.mark.parametrize("planted", sampled(["ends early", "counts twice"]))
def test_planted_faults_are_found(planted: str) -> None:
    given: dict[str, Any] = (
        {"store": CountsTwice()} if planted == "counts twice" else {"ends": EndsEarly}
    )
    found = False
    for seed in range(30):
        try:
            household = follow(seed, **given)
            found = household.counts() != household.true_counts() or household.ended_early
        except AssertionError:
            found = True
        if found:
            return
    raise AssertionError("thirty schedules don't show it")

"""Rules that hold for every parent: counters, cancelling, reopening."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from spinneret.jobs import limits, rules
from spinneret.jobs.models import ChildCounts, Failure, Job, JobRef, JobStatus, Transition
from spinneret.jobs.parents import ParentEnds
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from spinneret.kernel.paging import Page
from tests import factories
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START
from tests.unit.jobs.parent_world import ParentWorld
from tests.unit.jobs.submissions import finish


class OvertakenStore(FakeJobStore):
    """A store that calls `then` once, just after a read of the counters."""

    def __init__(self) -> None:
        super().__init__()
        self.then: Callable[[], object] = lambda: None

    def child_counts(self, parent: JobRef, shards: Sequence[int]) -> list[ChildCounts]:
        found = super().child_counts(parent, shards)
        then, self.then = self.then, lambda: None
        then()
        return found


class LaggingStore(FakeJobStore):
    """A store whose index of children still lists those that have ended."""

    def children(
        self, parent: JobRef, statuses: Sequence[JobStatus], after: str | None, limit: int
    ) -> Page[JobRef]:
        return super().children(parent, tuple(JobStatus), after, limit)


def alive(scenario: ParentWorld) -> list[Job]:
    return [child for child in scenario.children() if child.status not in rules.TERMINAL]


def failed_in_part() -> ParentWorld:
    """Return a parent whose second of three children has failed but would succeed in a retry."""
    scenario = ParentWorld(3, lambda job: job.payload["n"] == 1)
    scenario.settle()
    scenario.failing = lambda _: False
    return scenario


def failed_child(scenario: ParentWorld) -> JobRef:
    [failed] = [child for child in scenario.children() if child.status is JobStatus.FAILED]
    return failed.ref


# ---------------------------------------------------------------- Ends


def test_a_parent_does_not_end_by_counters_that_a_retried_child_has_left() -> None:
    store = OvertakenStore()
    scenario = ParentWorld(1, store=store)
    scenario.deliver()
    [child] = scenario.children()
    finish(store, child.id, scenario.clock, _failed)  # its worker stops after this
    store.then = lambda: scenario.move(child.ref, Transition.RETRY)
    assert not ParentEnds(store=scenario.noted, clock=scenario.clock).end(scenario.parent)
    assert scenario.job(scenario.parent).status is JobStatus.RUNNING
    scenario.settle()
    assert scenario.ended == [JobStatus.COMPLETED]


def test_a_parent_whose_row_changes_as_it_ends_is_read_again_and_ends() -> None:
    store = OvertakenStore()
    scenario = ParentWorld(1, store=store)
    scenario.deliver()
    [child] = scenario.children()
    finish(store, child.id, scenario.clock, _failed)
    store.then = lambda: store.subscribe(scenario.parent, 1)
    assert ParentEnds(store=scenario.noted, clock=scenario.clock).end(scenario.parent)
    assert scenario.ended == [JobStatus.FAILED]


@pytest.mark.parametrize(
    ("ends", "status"),
    [
        ({"completed": 2}, JobStatus.COMPLETED),
        ({"completed": 1, "cancelled": 1}, JobStatus.COMPLETED),
        ({"completed": 1, "partially_failed": 1}, JobStatus.PARTIALLY_FAILED),
        ({"partially_failed": 2}, JobStatus.PARTIALLY_FAILED),
        ({"completed": 1, "failed": 1}, JobStatus.PARTIALLY_FAILED),
        ({"completed": 1, "expired": 1}, JobStatus.PARTIALLY_FAILED),
        ({"failed": 1, "expired": 1}, JobStatus.FAILED),
        ({"failed": 1, "cancelled": 1}, JobStatus.FAILED),
        ({"expired": 2}, JobStatus.FAILED),
        ({"cancelled": 2}, JobStatus.CANCELLED),
    ],
    ids=str,
)
def test_a_parent_ends_as_its_children_did(ends: dict[str, int], status: JobStatus) -> None:
    parent = factories.running_job(START, locked_by=None, family=rules.new_family(2))
    ended = rules.end_of(parent, ChildCounts(created=2, **ends), START)
    assert ended.status is status
    assert ended.result is not None
    good, cancelled = ends.get("completed", 0), ends.get("cancelled", 0)
    assert (ended.result["completed_count"], ended.result["cancelled_count"]) == (good, cancelled)
    assert ended.result["failed_count"] == 2 - good - cancelled
    assert rules.sweep_at(ended) is None


def test_a_parent_shows_complete_progress_only_after_its_own_end() -> None:
    parent = factories.running_job(START, locked_by=None, family=rules.new_family(2))
    counts = ChildCounts(created=2, completed=2)
    ended = rules.end_of(parent, counts, START)
    assert (rules.progress_of(parent, counts), rules.progress_of(ended, counts)) == (99, 100)


def test_the_end_of_a_parent_is_the_last_line_of_its_timeline() -> None:
    scenario = ParentWorld(2)
    scenario.settle()
    assert scenario.store.events(scenario.parent, None, 99)[-1].message == JobStatus.COMPLETED


@pytest.mark.parametrize("status", sorted(rules.TERMINAL))
def test_every_end_of_a_child_has_a_counter_of_its_own(status: JobStatus) -> None:
    child = factories.running_job(START, parent="job_0")
    assert rules.counted(child, factories.job(status=status, parent="job_0")) == status.value


def test_a_parent_with_unfinished_children_is_looked_at_once_a_minute() -> None:
    scenario = ParentWorld(1)
    scenario.deliver()
    scenario.queue.take()
    scenario.sweep()
    assert rules.wake_at(scenario.job(scenario.parent)) == _in_a_minute(scenario)


# ---------------------------------------------------------------- Cancelling


@pytest.fixture
def cancelled(monkeypatch: pytest.MonkeyPatch) -> ParentWorld:
    """Provide a cancelled parent whose children the sweeper cancels, a hundred in each pass."""
    monkeypatch.setattr(limits, "CHILDREN_CANCELLED_PER_REQUEST", 0)
    monkeypatch.setattr(limits, "CHILDREN_CANCELLED_PER_PASS", 100)
    monkeypatch.setattr(limits, "CHILDREN_PER_SHARD", 50)
    scenario = ParentWorld(120)
    scenario.deliver()
    scenario.queue.take()
    scenario.move(scenario.parent, Transition.CANCEL)
    return scenario


def test_a_cancelled_parent_is_settled_only_by_all_its_counters(cancelled: ParentWorld) -> None:
    for child in cancelled.children():
        if child.parent_shard == 0:
            cancelled.move(child.ref, Transition.CANCEL)
    assert alive(cancelled)
    for _ in range(3):
        cancelled.sweep()
    assert alive(cancelled) == []


def test_a_cancelled_parent_is_looked_at_once_a_minute_until_its_children_have_ended(
    cancelled: ParentWorld,
) -> None:
    cancelled.sweep()
    assert len(alive(cancelled)) == 20
    assert rules.wake_at(cancelled.job(cancelled.parent)) == _in_a_minute(cancelled)
    for _ in range(2):
        cancelled.sweep()
    assert rules.sweep_at(cancelled.job(cancelled.parent)) is None


def test_a_child_that_has_ended_keeps_none_of_its_siblings_from_being_cancelled() -> None:
    scenario = ParentWorld(4, store=LaggingStore())
    scenario.deliver()
    scenario.deliver()
    scenario.move(scenario.parent, Transition.CANCEL)
    assert scenario.counts() == ChildCounts(created=4, completed=1, cancelled=3)


def test_children_that_rest_are_cancelled_with_their_parent() -> None:
    scenario = ParentWorld(3)
    scenario.deliver()
    scenario.move(scenario.children()[0].ref, Transition.PAUSE)
    scenario.move(scenario.parent, Transition.CANCEL)
    assert scenario.counts().cancelled == 3


class _IndexIsDown(FakeJobStore):
    def children(self, *_: Any) -> Page[JobRef]:
        raise DependencyUnavailable("dynamodb")


class _ChildNeverRests(FakeJobStore):
    def transition(self, before: Job, *given: Any, **named: Any) -> int:
        if before.payload.get("n") == 0:
            raise LeaseLost("moved on")
        return super().transition(before, *given, **named)


@pytest.mark.parametrize(("store", "left"), [(_IndexIsDown(), 3), (_ChildNeverRests(), 1)])
def test_a_cancelled_parent_answers_so_whatever_keeps_its_children(
    store: FakeJobStore, left: int
) -> None:
    scenario = ParentWorld(3, store=store)
    scenario.deliver()
    scenario.move(scenario.parent, Transition.CANCEL)
    assert scenario.job(scenario.parent).status is JobStatus.CANCELLED
    assert scenario.counts().pending == left


# ---------------------------------------------------------------- Further runs


def test_a_reopened_parent_adds_its_new_run_to_its_timeline_and_publishes_it() -> None:
    scenario = failed_in_part()
    published: list[tuple[str, JobStatus]] = []
    scenario.noted.listen(lambda job, _: published.append((job.id, job.status)))
    before = scenario.store.events(scenario.parent, None, 99)
    scenario.move(failed_child(scenario), Transition.RETRY)
    [*others, last] = scenario.store.events(scenario.parent, None, 99)
    assert (others, last.message) == (before, JobStatus.RUNNING)
    assert (scenario.parent.job_id, JobStatus.RUNNING) in published


def test_a_reopened_parent_shows_nothing_of_the_end_of_its_former_run() -> None:
    scenario = failed_in_part()
    scenario.move(failed_child(scenario), Transition.RETRY)
    parent = scenario.job(scenario.parent)
    assert (parent.finished_at, parent.result, parent.last_error) == (None, None, None)
    assert parent.progress == 0


def test_a_reopened_parent_cancels_its_children() -> None:
    scenario = failed_in_part()
    scenario.move(failed_child(scenario), Transition.RETRY)
    scenario.move(scenario.parent, Transition.CANCEL)
    assert scenario.counts() == ChildCounts(created=3, completed=2, cancelled=1)


def test_a_child_that_failed_in_this_run_is_not_retried_by_a_further_claim_of_its_parent() -> None:
    scenario = ParentWorld(3, lambda job: job.payload["n"] > 0)
    scenario.settle()
    scenario.clock.advance(60.0)
    scenario.move(scenario.parent, Transition.RETRY)
    for _ in range(2):  # the parent, then the first of the two children
        scenario.deliver()
    assert len(alive(scenario)) == 1
    scenario.move(scenario.parent, Transition.PAUSE)
    scenario.move(scenario.parent, Transition.RESUME)
    scenario.settle()
    assert sorted(scenario.worked.values()) == [1, 2, 2]


def test_all_pages_of_children_are_retried_and_each_one_renews_the_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("spinneret.jobs.children._PAGE", 10)
    scenario = ParentWorld(25, lambda _: True)
    scenario.settle()
    scenario.clock.advance(60.0)
    scenario.failing = lambda _: False
    scenario.move(scenario.parent, Transition.RETRY)
    before = len(scenario.store.events(scenario.parent, None, 999))
    scenario.deliver()
    events = scenario.store.events(scenario.parent, None, 999)[before:]
    renewed = [event.message for event in events].count("children")
    assert (renewed, len(alive(scenario))) == (4, 25)  # paused and failed children


def test_children_that_ended_in_part_are_retried_with_their_parent() -> None:
    scenario = ParentWorld(1)
    scenario.deliver()
    [child] = scenario.children()
    finish(scenario.store, child.id, scenario.clock, _ended_in_part)
    scenario.sweep()
    assert scenario.ended == [JobStatus.PARTIALLY_FAILED]
    scenario.move(scenario.parent, Transition.RETRY)
    scenario.settle()
    assert scenario.ended == [JobStatus.PARTIALLY_FAILED, JobStatus.COMPLETED]


def test_a_plan_of_several_rows_loses_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PLAN_ROW_BYTES", 600)
    scenario = ParentWorld(20)
    assert scenario.store.plan(scenario.parent, 2) is not None
    scenario.settle()
    assert sorted(child.payload["n"] for child in scenario.children()) == list(range(20))


def _failed(job: Job) -> Job:
    return rules.after_error(job, ValueError(), START, 0.5)


def _ended_in_part(job: Job) -> Job:
    lack = Failure(code="PAGES_FAILED", message="one page failed", type="permanent")
    return rules.complete_in_part(job, {}, lack, START)


def _in_a_minute(scenario: ParentWorld) -> datetime:
    return scenario.clock() + timedelta(seconds=limits.CHILDREN_CHECK_SECONDS)

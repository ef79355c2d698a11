"""Races between moves of parents and children, and differing clocks and indexes."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from spinneret.jobs import limits, rules
from spinneret.jobs.models import Job, JobRef, JobStatus, Transition
from spinneret.jobs.ports import SubmissionRaced
from spinneret.kernel.paging import Page
from tests.fakes.jobs import FakeJobStore
from tests.unit.jobs.parent_world import ParentWorld


class InterruptedStore(FakeJobStore):
    """A store that calls `meanwhile` once, just before a child is paused or starts a new run."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], object] | None = None
        self.lags = False
        """Whether the index doesn't list the paused and failed children yet."""

    def transition(self, before: Job, after: Job, *given: Any, **named: Any) -> int:
        if before.parent is not None and after.status is JobStatus.PAUSED:
            self._interrupt()
        return super().transition(before, after, *given, **named)

    def begin_run(self, before: Job, *given: Any) -> None:
        if before.parent is not None:
            self._interrupt()
        super().begin_run(before, *given)

    def children(self, parent: JobRef, statuses: Sequence[JobStatus], *given: Any) -> Page[JobRef]:
        if self.lags and len(statuses) < len(JobStatus):
            return Page(items=(), after=None)
        return super().children(parent, statuses, *given)

    def _interrupt(self) -> None:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()


@pytest.fixture
def store() -> InterruptedStore:
    return InterruptedStore()


def statuses(scenario: ParentWorld) -> set[JobStatus]:
    return {child.status for child in scenario.children()}


def paused(scenario: ParentWorld) -> None:
    """Create the children and their messages, then pause the parent."""
    scenario.deliver()
    scenario.move(scenario.parent, Transition.PAUSE)


def resumed(scenario: ParentWorld) -> None:
    """Resume the parent and run it, so that it looks for paused children."""
    scenario.move(scenario.parent, Transition.RESUME)
    scenario.run(scenario.parent)


def test_a_child_doesnt_rest_with_a_parent_that_is_resumed_meanwhile(
    store: InterruptedStore,
) -> None:
    scenario = ParentWorld(2, store=store)
    paused(scenario)
    store.meanwhile = lambda: resumed(scenario)
    while scenario.deliver():
        pass
    assert store.meanwhile is None
    assert scenario.ended == [JobStatus.COMPLETED]


def test_the_sweeper_resumes_a_child_that_a_lagging_index_hid_from_its_parent(
    store: InterruptedStore,
) -> None:
    scenario = ParentWorld(2, store=store)
    paused(scenario)
    while scenario.deliver():
        pass
    assert statuses(scenario) == {JobStatus.PAUSED}
    store.lags = True
    resumed(scenario)
    store.lags = False
    assert statuses(scenario) == {JobStatus.PAUSED}
    scenario.settle()
    assert scenario.ended == [JobStatus.COMPLETED]


def test_a_child_that_rests_with_its_parent_is_looked_at_once(store: InterruptedStore) -> None:
    scenario = ParentWorld(2, store=store)
    paused(scenario)
    while scenario.deliver():
        pass
    scenario.sweep()
    assert [rules.wake_at(child) for child in scenario.children()] == [None, None]
    resumed(scenario)
    scenario.settle()
    assert scenario.ended == [JobStatus.COMPLETED]


def test_a_child_that_its_user_paused_is_left_alone(store: InterruptedStore) -> None:
    scenario = ParentWorld(2, store=store)
    scenario.deliver()
    first = scenario.children()[0]
    scenario.move(first.ref, Transition.PAUSE)
    while scenario.deliver():
        pass
    scenario.sweep()
    assert scenario.job(first.ref).status is JobStatus.PAUSED


def test_a_look_at_a_child_that_rests_is_dropped_if_its_parent_is_resumed_meanwhile(
    store: InterruptedStore,
) -> None:
    scenario = ParentWorld(1, store=store)
    paused(scenario)
    while scenario.deliver():
        pass
    store.lags = True
    store.meanwhile = lambda: resumed(scenario)
    scenario.sweep()
    assert statuses(scenario) == {JobStatus.PAUSED}
    store.lags = False
    scenario.settle()
    assert scenario.ended == [JobStatus.COMPLETED]


def test_a_child_that_begins_again_as_its_parent_ends_reopens_it(store: InterruptedStore) -> None:
    scenario = ParentWorld(2, lambda job: job.payload["n"] == 0, store=store)
    scenario.deliver()
    scenario.deliver()
    scenario.failing = lambda _: False
    [failed] = [child for child in scenario.children() if child.status is JobStatus.FAILED]
    store.meanwhile = scenario.deliver
    scenario.move(failed.ref, Transition.RETRY)
    assert scenario.ended == [JobStatus.PARTIALLY_FAILED]
    assert scenario.job(scenario.parent).status is JobStatus.RUNNING
    scenario.settle()
    assert scenario.ended == [JobStatus.PARTIALLY_FAILED, JobStatus.COMPLETED]


def test_a_retry_of_the_parent_by_a_clock_that_is_behind_retries_its_children() -> None:
    scenario = ParentWorld(2, lambda _: True)
    scenario.settle()
    scenario.failing = lambda _: False
    scenario.clock.advance(-5.0)
    scenario.move(scenario.parent, Transition.RETRY)
    scenario.settle()
    assert scenario.ended == [JobStatus.FAILED, JobStatus.COMPLETED]


def test_a_retry_of_the_parent_waits_for_an_index_that_doesnt_show_its_last_failures(
    store: InterruptedStore,
) -> None:
    scenario = ParentWorld(2, lambda _: True, store=store)
    scenario.settle()
    scenario.failing = lambda _: False
    scenario.move(scenario.parent, Transition.RETRY)
    store.lags = True
    scenario.deliver()
    waiting = scenario.job(scenario.parent)
    assert (waiting.status, waiting.attempts) == (JobStatus.PENDING, 0)
    store.lags = False
    scenario.settle()
    assert scenario.ended == [JobStatus.FAILED, JobStatus.COMPLETED]


def test_counters_are_compared_only_as_long_as_an_index_may_lag(store: InterruptedStore) -> None:
    scenario = ParentWorld(2, lambda _: True, store=store)
    scenario.settle()
    scenario.move(scenario.parent, Transition.RETRY)
    store.lags = True
    scenario.deliver()
    scenario.clock.advance(limits.INDEX_LAG_SECONDS)
    while scenario.deliver():
        pass
    assert scenario.ended == [JobStatus.FAILED, JobStatus.FAILED]


def test_a_retry_of_the_parent_runs_its_expired_children() -> None:
    scenario = ParentWorld(2)
    scenario.deliver()
    scenario.queue.take()
    for child in scenario.children():
        scenario.store.transition(child, rules.expire(child, scenario.clock()))
    scenario.sweep()
    assert scenario.ended == [JobStatus.FAILED]
    scenario.move(scenario.parent, Transition.RETRY)
    scenario.settle()
    assert scenario.ended == [JobStatus.FAILED, JobStatus.COMPLETED]


def test_a_reopened_parent_retries_no_child_but_the_one_that_was_asked_for() -> None:
    scenario = ParentWorld(3, lambda job: job.payload["n"] < 2)
    scenario.settle()
    scenario.failing = lambda _: False
    failed = [child for child in scenario.children() if child.status is JobStatus.FAILED]
    scenario.move(failed[0].ref, Transition.RETRY)
    scenario.move(scenario.parent, Transition.PAUSE)
    resumed(scenario)
    scenario.settle()
    assert scenario.ended == [JobStatus.PARTIALLY_FAILED] * 2
    assert scenario.job(failed[1].ref).run == 1


def test_a_parent_that_keeps_moving_delays_its_child_and_charges_nothing(
    store: InterruptedStore,
) -> None:
    scenario = ParentWorld(1, store=store)
    paused(scenario)

    def moves() -> None:
        scenario.move(scenario.parent, Transition.RESUME)
        scenario.move(scenario.parent, Transition.PAUSE)

    store.meanwhile = moves
    while scenario.deliver():
        pass
    [child] = scenario.children()
    assert (child.status, child.attempts) == (JobStatus.PAUSED, 0)
    named = [event.message for event in scenario.store.events(child.ref, None, 99)]
    assert named.count("paused") == 1


def test_a_child_that_keeps_moving_delays_its_parent_and_charges_nothing(
    store: InterruptedStore,
) -> None:
    scenario = ParentWorld(1, lambda _: True, store=store)
    scenario.settle()
    scenario.failing = lambda _: False
    scenario.move(scenario.parent, Transition.RETRY)

    def moves() -> None:
        store.meanwhile = moves
        raise SubmissionRaced

    store.meanwhile = moves
    scenario.deliver()
    parent = scenario.job(scenario.parent)
    assert (parent.status, parent.attempts) == (JobStatus.PENDING, 0)
    store.meanwhile = None
    scenario.settle()
    assert scenario.ended == [JobStatus.FAILED, JobStatus.COMPLETED]


def test_an_orphan_begins_again(store: InterruptedStore) -> None:
    scenario = ParentWorld(1, lambda _: True, store=store)
    scenario.settle()
    [child] = scenario.children()
    parent = scenario.job(scenario.parent)
    again = rules.retry(child, scenario.clock())
    event = rules.status_event(again, scenario.clock())
    with pytest.raises(SubmissionRaced):
        store.begin_run(child, again, event, None, rules.retry(parent, scenario.clock()))
    scenario.failing = lambda _: False
    scenario.clock.advance(31 * 24 * 3600)
    store.purge(scenario.clock())
    assert store.get(parent.ref) is None

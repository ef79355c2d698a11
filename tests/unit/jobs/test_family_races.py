"""Parents and children that are moved at the same moment, or by clocks and indexes that differ."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from spinneret.jobs import limits, rules
from spinneret.jobs.models import Job, JobRef, JobStatus, Transition
from spinneret.jobs.ports import SubmissionRaced
from spinneret.kernel.paging import Page
from tests.fakes.jobs import FakeJobStore
from tests.unit.jobs.household import ParentScenario


class InterruptedStore(FakeJobStore):
    """Something happens once just before a child rests, or begins its next run."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], object] | None = None
        self.lags = False
        """Whether the index doesn't show yet who is paused, or who failed."""

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


def statuses(household: ParentScenario) -> set[JobStatus]:
    return {child.status for child in household.children()}


def paused(household: ParentScenario) -> None:
    """The children exist and their messages are on the way; then the parent is paused."""
    household.deliver()
    household.move(household.parent, Transition.PAUSE)


def resumed(household: ParentScenario) -> None:
    """The parent is resumed, and has looked for children that rest."""
    household.move(household.parent, Transition.RESUME)
    household.run(household.parent)


def test_a_child_doesnt_rest_with_a_parent_that_is_resumed_meanwhile(
    store: InterruptedStore,
) -> None:
    household = ParentScenario(2, store=store)
    paused(household)
    store.meanwhile = lambda: resumed(household)
    while household.deliver():
        pass
    assert store.meanwhile is None
    assert household.ended == [JobStatus.COMPLETED]


def test_the_sweeper_resumes_a_child_that_a_lagging_index_hid_from_its_parent(
    store: InterruptedStore,
) -> None:
    household = ParentScenario(2, store=store)
    paused(household)
    while household.deliver():
        pass
    assert statuses(household) == {JobStatus.PAUSED}
    store.lags = True
    resumed(household)
    store.lags = False
    assert statuses(household) == {JobStatus.PAUSED}
    household.settle()
    assert household.ended == [JobStatus.COMPLETED]


def test_a_child_that_rests_with_its_parent_is_looked_at_once(store: InterruptedStore) -> None:
    household = ParentScenario(2, store=store)
    paused(household)
    while household.deliver():
        pass
    household.sweep()
    assert [rules.wake_at(child) for child in household.children()] == [None, None]
    resumed(household)
    household.settle()
    assert household.ended == [JobStatus.COMPLETED]


def test_a_child_that_its_user_paused_is_left_alone(store: InterruptedStore) -> None:
    household = ParentScenario(2, store=store)
    household.deliver()
    first = household.children()[0]
    household.move(first.ref, Transition.PAUSE)
    while household.deliver():
        pass
    household.sweep()
    assert household.job(first.ref).status is JobStatus.PAUSED


def test_a_look_at_a_child_that_rests_is_dropped_if_its_parent_is_resumed_meanwhile(
    store: InterruptedStore,
) -> None:
    household = ParentScenario(1, store=store)
    paused(household)
    while household.deliver():
        pass
    store.lags = True
    store.meanwhile = lambda: resumed(household)
    household.sweep()
    assert statuses(household) == {JobStatus.PAUSED}
    store.lags = False
    household.settle()
    assert household.ended == [JobStatus.COMPLETED]


def test_a_child_that_begins_again_as_its_parent_ends_reopens_it(store: InterruptedStore) -> None:
    household = ParentScenario(2, lambda job: job.payload["n"] == 0, store=store)
    household.deliver()
    household.deliver()
    household.failing = lambda _: False
    [failed] = [child for child in household.children() if child.status is JobStatus.FAILED]
    store.meanwhile = household.deliver
    household.move(failed.ref, Transition.RETRY)
    assert household.ended == [JobStatus.PARTIALLY_FAILED]
    assert household.job(household.parent).status is JobStatus.RUNNING
    household.settle()
    assert household.ended == [JobStatus.PARTIALLY_FAILED, JobStatus.COMPLETED]


def test_a_retry_of_the_parent_by_a_clock_that_is_behind_retries_its_children() -> None:
    household = ParentScenario(2, lambda _: True)
    household.settle()
    household.failing = lambda _: False
    household.clock.advance(-5.0)
    household.move(household.parent, Transition.RETRY)
    household.settle()
    assert household.ended == [JobStatus.FAILED, JobStatus.COMPLETED]


def test_a_retry_of_the_parent_waits_for_an_index_that_doesnt_show_its_last_failures(
    store: InterruptedStore,
) -> None:
    household = ParentScenario(2, lambda _: True, store=store)
    household.settle()
    household.failing = lambda _: False
    household.move(household.parent, Transition.RETRY)
    store.lags = True
    household.deliver()
    waiting = household.job(household.parent)
    assert (waiting.status, waiting.attempts) == (JobStatus.PENDING, 0)
    store.lags = False
    household.settle()
    assert household.ended == [JobStatus.FAILED, JobStatus.COMPLETED]


def test_counters_are_compared_only_as_long_as_an_index_may_lag(store: InterruptedStore) -> None:
    household = ParentScenario(2, lambda _: True, store=store)
    household.settle()
    household.move(household.parent, Transition.RETRY)
    store.lags = True
    household.deliver()
    household.clock.advance(limits.INDEX_LAG_SECONDS)
    while household.deliver():
        pass
    assert household.ended == [JobStatus.FAILED, JobStatus.FAILED]


def test_a_retry_of_the_parent_runs_its_expired_children() -> None:
    household = ParentScenario(2)
    household.deliver()
    household.queue.take()
    for child in household.children():
        household.store.transition(child, rules.expire(child, household.clock()))
    household.sweep()
    assert household.ended == [JobStatus.FAILED]
    household.move(household.parent, Transition.RETRY)
    household.settle()
    assert household.ended == [JobStatus.FAILED, JobStatus.COMPLETED]


def test_a_reopened_parent_retries_no_child_but_the_one_that_was_asked_for() -> None:
    household = ParentScenario(3, lambda job: job.payload["n"] < 2)
    household.settle()
    household.failing = lambda _: False
    failed = [child for child in household.children() if child.status is JobStatus.FAILED]
    household.move(failed[0].ref, Transition.RETRY)
    household.move(household.parent, Transition.PAUSE)
    resumed(household)
    household.settle()
    assert household.ended == [JobStatus.PARTIALLY_FAILED] * 2
    assert household.job(failed[1].ref).run == 1


def test_a_parent_that_keeps_moving_delays_its_child_and_charges_nothing(
    store: InterruptedStore,
) -> None:
    household = ParentScenario(1, store=store)
    paused(household)

    def moves() -> None:
        household.move(household.parent, Transition.RESUME)
        household.move(household.parent, Transition.PAUSE)

    store.meanwhile = moves
    while household.deliver():
        pass
    [child] = household.children()
    assert (child.status, child.attempts) == (JobStatus.PAUSED, 0)
    named = [event.message for event in household.store.events(child.ref, None, 99)]
    assert named.count("paused") == 1


def test_a_child_that_keeps_moving_delays_its_parent_and_charges_nothing(
    store: InterruptedStore,
) -> None:
    household = ParentScenario(1, lambda _: True, store=store)
    household.settle()
    household.failing = lambda _: False
    household.move(household.parent, Transition.RETRY)

    def moves() -> None:
        store.meanwhile = moves
        raise SubmissionRaced

    store.meanwhile = moves
    household.deliver()
    parent = household.job(household.parent)
    assert (parent.status, parent.attempts) == (JobStatus.PENDING, 0)
    store.meanwhile = None
    household.settle()
    assert household.ended == [JobStatus.FAILED, JobStatus.COMPLETED]


def test_an_orphan_begins_again(store: InterruptedStore) -> None:
    household = ParentScenario(1, lambda _: True, store=store)
    household.settle()
    [child] = household.children()
    parent = household.job(household.parent)
    again = rules.retry(child, household.clock())
    event = rules.status_event(again, household.clock())
    with pytest.raises(SubmissionRaced):
        store.begin_run(child, again, event, None, rules.retry(parent, household.clock()))
    household.failing = lambda _: False
    household.clock.advance(31 * 24 * 3600)
    store.purge(household.clock())
    assert store.get(parent.ref) is None

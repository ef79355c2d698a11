"""Contract tests of job stores for parents and their children."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from spinneret.jobs import rules
from spinneret.jobs.models import ChildCounts, Job, JobRef, JobStatus
from spinneret.jobs.ports import Claimed, Holder, JobStore, NewJob, Reopening, SubmissionRaced
from spinneret.kernel.errors import LeaseLost
from tests import factories
from tests.contract.backends import OF_AWS
from tests.contract.stored_jobs import UNTIL, new_job
from tests.fakes.time import START

pytestmark = OF_AWS

FAMILY = replace(rules.new_family(1), plan_rows=2)


@pytest.fixture
def parent(store: JobStore, tenant: str) -> Job:
    """Provide a claimed parent with a plan of two parts."""
    made = new_job(tenant, family=FAMILY)
    founded = NewJob(job=made, plan=["one", "two"])
    store.submit([founded], [factories.event()], None, factories.reply(), START)
    outcome = store.claim(made.ref, "one", START, UNTIL)
    assert isinstance(outcome, Claimed)
    return outcome.job


def births(store: JobStore, parent: Job, number: int, **given: Any) -> list[Job]:
    """Create children of the parent, move its cursor, and return the children."""
    born = [rules.as_child(new_job(parent.tenant, **given), parent) for _ in range(number)]
    add(store, parent, born)
    return born


def add(store: JobStore, parent: Job, born: list[Job]) -> None:
    after = replace(parent, family=replace(FAMILY, cursor="next"))
    store.add_children(
        parent,
        after,
        [NewJob(job=job) for job in born],
        [factories.event() for _ in born],
        lease=factories.lease(parent),
    )


def counts(store: JobStore, parent: Job) -> ChildCounts:
    [found] = store.child_counts(parent.ref, [0])
    return found


def end(store: JobStore, ref: JobRef) -> Job:
    """Claim a child, end it with an error, and return it."""
    outcome = store.claim(ref, "child's", START, UNTIL)
    assert isinstance(outcome, Claimed)
    after = rules.after_error(outcome.job, ValueError(), START, 0.5)
    store.transition(outcome.job, after, lease=outcome.lease)
    return after


def awaiting(store: JobStore, parent: Job) -> Job:
    """End the parent's claim to wait for its children, and return the parent as stored."""
    standing = store.get(parent.ref)
    assert standing is not None
    after = rules.await_children(standing, START)
    store.transition(standing, after, lease=factories.lease(parent))
    return after


def test_a_plan_is_kept_part_by_part(store: JobStore, parent: Job) -> None:
    assert [store.plan(parent.ref, number) for number in range(3)] == ["one", "two", None]


def test_children_are_written_counted_and_listed_as_the_cursor_moves(
    store: JobStore, parent: Job
) -> None:
    born = births(store, parent, 2)
    assert [store.get(child.ref) for child in born] == born
    assert counts(store, parent) == ChildCounts(created=2)
    standing = store.get(parent.ref)
    assert standing is not None
    assert standing.family == replace(FAMILY, cursor="next")
    listed = store.children(parent.ref, [JobStatus.PENDING], None, 10)
    assert listed.items == tuple(sorted((child.ref for child in born), key=lambda ref: ref.job_id))
    assert store.children(parent.ref, [JobStatus.PAUSED], None, 10).items == ()


def test_pages_of_children_follow_each_other(store: JobStore, parent: Job) -> None:
    births(store, parent, 5)
    found, after = [], None
    for _ in range(5):
        page = store.children(parent.ref, [JobStatus.PENDING], after, 2)
        found += page.items
        if (after := page.after) is None:
            break
    assert len(found) == len(set(found)) == 5


def test_no_child_is_made_without_the_claim(store: JobStore, parent: Job) -> None:
    awaiting(store, parent)
    born = rules.as_child(new_job(parent.tenant), parent)
    with pytest.raises(LeaseLost):
        add(store, parent, [born])
    assert (store.get(born.ref), counts(store, parent).created) == (None, 0)


def test_a_child_whose_key_is_taken_is_not_made(store: JobStore, parent: Job) -> None:
    key = uuid4().hex
    births(store, parent, 1, duplicate_key=key)
    with pytest.raises(SubmissionRaced):
        births(store, parent, 1, duplicate_key=key)
    assert counts(store, parent).created == 1


def test_an_end_is_counted_once_per_run(store: JobStore, parent: Job) -> None:
    [child] = births(store, parent, 1)
    failed = end(store, child.ref)
    assert counts(store, parent) == ChildCounts(created=1, failed=1)
    again = rules.retry(failed, START)
    store.begin_run(failed, again, factories.event(fence=again.fence), None)
    assert counts(store, parent) == ChildCounts(created=1)
    end(store, child.ref)
    assert counts(store, parent) == ChildCounts(created=1, failed=1)


def test_the_repeated_write_of_an_end_counts_once(store: JobStore, parent: Job) -> None:
    [child] = births(store, parent, 1)
    outcome = store.claim(child.ref, "child's", START, UNTIL)
    assert isinstance(outcome, Claimed)
    after = rules.complete(outcome.job, {}, START)
    for _ in range(2):
        store.transition(outcome.job, after, [factories.event(fence=1)], lease=outcome.lease)
    assert counts(store, parent) == ChildCounts(created=1, completed=1)


def test_a_parent_ends_only_by_the_counters_that_stand(store: JobStore, parent: Job) -> None:
    [child] = births(store, parent, 1)
    waiting = awaiting(store, parent)
    end(store, child.ref)
    read = counts(store, parent)
    ended = rules.end_of(waiting, read, START)
    with pytest.raises(LeaseLost):
        store.transition(waiting, ended, counted=[replace(read, failed=0)])
    store.transition(waiting, ended, counted=[read])
    assert store.get(parent.ref) == ended


def test_a_child_that_begins_again_reopens_its_parent_with_it(store: JobStore, parent: Job) -> None:
    [child] = births(store, parent, 1, duplicate_key=uuid4().hex)
    waiting = awaiting(store, parent)
    failed = end(store, child.ref)
    ended = rules.end_of(waiting, counts(store, parent), START)
    store.transition(waiting, ended, counted=[counts(store, parent)])
    again, reopened = rules.retry(failed, START), rules.reopened(ended, START)
    stale = Reopening(before=waiting, after=reopened, event=factories.event(fence=reopened.fence))
    holder = Holder(job_id=child.id, job=failed)
    with pytest.raises(SubmissionRaced):
        store.begin_run(failed, again, factories.event(fence=again.fence), holder, stale)
    assert store.get(child.ref) == failed
    fresh = replace(stale, before=ended)
    store.begin_run(failed, again, factories.event(fence=again.fence), holder, fresh)
    assert (store.get(child.ref), store.get(parent.ref)) == (again, reopened)


def test_a_child_begins_again_only_while_its_parent_is_as_it_was_read(
    store: JobStore, parent: Job
) -> None:
    [child] = births(store, parent, 1)
    waiting = awaiting(store, parent)
    failed = end(store, child.ref)
    ended = rules.end_of(waiting, counts(store, parent), START)
    store.transition(waiting, ended, counted=[counts(store, parent)])
    again = rules.retry(failed, START)
    with pytest.raises(SubmissionRaced):
        store.begin_run(failed, again, factories.event(fence=again.fence), None, waiting)
    assert (store.get(child.ref), counts(store, parent).failed) == (failed, 1)
    store.begin_run(failed, again, factories.event(fence=again.fence), None, ended)
    assert (store.get(child.ref), counts(store, parent).failed) == (again, 0)


@pytest.mark.parametrize("is_claimed", [True, False])
def test_a_move_that_depends_on_the_parent_is_refused_once_the_parent_has_moved(
    store: JobStore, parent: Job, is_claimed: bool
) -> None:
    [child] = births(store, parent, 1)
    outcome = store.claim(child.ref, "child's", START, UNTIL)
    assert isinstance(outcome, Claimed)
    read = awaiting(store, parent)
    paused = rules.pause(read, START)
    store.transition(read, paused)
    after = rules.stopped_by_parent(outcome.job, paused, START)
    assert after is not None
    lease = outcome.lease if is_claimed else None
    event = factories.event(fence=outcome.job.fence, number=1)
    with pytest.raises(SubmissionRaced):
        store.transition(outcome.job, after, [event], lease=lease, parent=read)
    assert store.get(child.ref) == outcome.job
    store.transition(outcome.job, after, [event], lease=lease, parent=paused)
    assert store.get(child.ref) == after


def test_the_repeated_write_of_a_rest_counts_as_written_though_the_parent_moved_on(
    store: JobStore, parent: Job
) -> None:
    [child] = births(store, parent, 1)
    outcome = store.claim(child.ref, "child's", START, UNTIL)
    assert isinstance(outcome, Claimed)
    read = awaiting(store, parent)
    paused = rules.pause(read, START)
    store.transition(read, paused)
    after = rules.stopped_by_parent(outcome.job, paused, START)
    assert after is not None
    store.transition(outcome.job, after, lease=outcome.lease, parent=paused)
    store.transition(paused, rules.resume(paused, START))
    store.transition(outcome.job, after, lease=outcome.lease, parent=paused)
    assert store.get(child.ref) == after

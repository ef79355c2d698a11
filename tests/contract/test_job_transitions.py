"""What every job store holds for transitions, the due index and timelines."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.keys import sweep_shard
from spinneret.jobs.models import Event, EventKind, Job, JobRef, JobStatus
from spinneret.jobs.ports import JobStore
from spinneret.kernel import limits
from spinneret.kernel.errors import LeaseLost
from tests import factories
from tests.contract.backends import OF_AWS
from tests.contract.stored_jobs import (
    SECOND,
    UNTIL,
    claimed,
    new_job,
    submit,
    submitted,
    watched,
)
from tests.fakes.time import START

pytestmark = OF_AWS

GRACE = timedelta(seconds=limits.RESEND_GRACE_SECONDS)

# ---------------------------------------------------------------- Transitions


def outcomes_of(job: Job) -> dict[str, Job]:
    now = START + SECOND
    return {
        "checkpoint": replace(job, step="fetching", progress=10, locked_until=UNTIL + SECOND),
        "complete": rules.complete(job, {"n": 1, "none": None, "title": "🕸"}, now),
        "fail": rules.after_error(job, ValueError(), now, 0.5),
        "hand back": rules.hand_back(job, now),
        "lease expired": rules.after_lease_expired(job, now),
        "no change": job,
    }


@pytest.mark.parametrize("outcome", list(outcomes_of(factories.running_job(UNTIL))))
def test_a_transition_writes_the_job_and_its_events(
    store: JobStore, tenant: str, outcome: str
) -> None:
    before = claimed(store, tenant)
    after = outcomes_of(before)[outcome]
    noted = factories.event(fence=1, number=1, message=outcome, data={"a": [1, None, "ü"]})
    store.transition(before, after, [noted])
    assert store.get(before.ref) == after
    assert store.events(before.ref, None, 9) == [factories.event(), noted]


def test_a_transition_writes_only_what_changed(store: JobStore, tenant: str) -> None:
    before = claimed(store, tenant, attempts=1, last_error=None, step="old")
    outdated = replace(before, attempts=0, progress=7)
    store.transition(outdated, replace(outdated, step=None, own_faults=2))
    assert store.get(before.ref) == replace(before, step=None, own_faults=2)


STALE: dict[str, dict[str, Any]] = {
    "status": {"status": JobStatus.PENDING},
    "fence": {"fence": 0},
    "later fence": {"fence": 2},
    "owner": {"locked_by": "other"},
    "no owner": {"locked_by": None},
    "end of lease": {"locked_until": UNTIL - SECOND},
    "no end of lease": {"locked_until": None},
    "messages sent": {"sends": 2},
    "watchers": {"watchers": 1},
    "run that was told": {"notified_run": 1},
}


@pytest.mark.parametrize("stale", list(STALE))
def test_a_stale_transition_writes_nothing(store: JobStore, tenant: str, stale: str) -> None:
    current = claimed(store, tenant)
    before = replace(current, **STALE[stale])
    after = rules.complete(current, {"stale": True}, START + SECOND)
    with pytest.raises(LeaseLost):
        store.transition(before, after, [factories.event(fence=1, number=1)])
    assert store.get(current.ref) == current
    assert store.events(current.ref, None, 9) == [factories.event()]


def test_a_stale_transition_without_a_change_is_refused_too(store: JobStore, tenant: str) -> None:
    current = claimed(store, tenant)
    before = replace(current, fence=0)
    with pytest.raises(LeaseLost):
        store.transition(before, before, [factories.event(fence=1, number=1)])
    assert store.events(current.ref, None, 9) == [factories.event()]


def test_a_transition_of_an_unknown_job_is_refused(store: JobStore, tenant: str) -> None:
    before = factories.running_job(UNTIL, tenant=tenant, id="job_unknown")
    with pytest.raises(LeaseLost):
        store.transition(before, rules.complete(before, {}, START))
    assert store.get(before.ref) is None


def test_a_renewed_lease_is_not_taken_away(store: JobStore, tenant: str) -> None:
    """A sweeper that read the job before its checkpoint doesn't expire the renewed lease."""
    before = claimed(store, tenant)
    renewed = replace(before, locked_until=UNTIL + 60 * SECOND)
    store.transition(before, renewed)
    with pytest.raises(LeaseLost):
        store.transition(before, rules.after_lease_expired(before, UNTIL + SECOND))
    assert store.get(before.ref) == renewed


def test_two_sweepers_that_overlap_send_one_message(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant)
    store.transition(job, rules.resent(job))
    with pytest.raises(LeaseLost):
        store.transition(job, rules.resent(job))


# ---------------------------------------------------------------- Under a lease


def test_who_holds_the_lease_may_write_without_knowing_the_row(
    store: JobStore, tenant: str
) -> None:
    """The answer of its checkpoint was lost: the end of the lease isn't what it believes."""
    known = claimed(store, tenant)
    lease = factories.lease(known)
    renewed = replace(known, locked_until=UNTIL + SECOND, step="fetching", progress=10)
    store.transition(known, renewed, lease=lease)
    done = rules.complete(known, {"n": 1}, START + SECOND)
    store.transition(known, done, [factories.event(fence=1, number=2)], lease=lease)
    found = store.get(known.ref)
    assert found is not None
    assert (found.status, found.result, found.locked_until) == (done.status, {"n": 1}, None)


@pytest.mark.parametrize(
    "wrong", [{"fence": 0}, {"fence": 2}, {"owner": "other"}, {"job_id": "job_unknown"}]
)
def test_a_lease_that_does_not_stand_writes_nothing(
    store: JobStore, tenant: str, wrong: dict[str, Any]
) -> None:
    current = claimed(store, tenant)
    lease = replace(factories.lease(current), **wrong)
    before = replace(current, id=lease.job_id)
    with pytest.raises(LeaseLost):
        store.transition(before, rules.complete(before, {}, START), lease=lease)
    assert store.get(current.ref) == current


@pytest.mark.parametrize("outcome", ["complete", "fail", "hand back", "lease expired"])
def test_a_lease_ends_with_its_claim(store: JobStore, tenant: str, outcome: str) -> None:
    before = claimed(store, tenant)
    after = outcomes_of(before)[outcome]
    store.transition(before, after)
    for late in outcomes_of(before).values():
        with pytest.raises(LeaseLost):
            store.transition(before, late, lease=factories.lease(before))
    assert store.get(before.ref) == after


def test_a_finished_job_stays_finished(store: JobStore, tenant: str) -> None:
    before = claimed(store, tenant)
    done = rules.complete(before, {"n": 1}, START + SECOND)
    store.transition(before, done)
    for late in outcomes_of(before).values():
        with pytest.raises(LeaseLost):
            store.transition(before, late)
    assert store.get(before.ref) == done


# ---------------------------------------------------------------- The due index


def test_a_pending_job_is_watched_from_its_grace_on(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant, due_at=START + SECOND)
    watch = job.due_at + GRACE
    assert not watched(store, job, watch - timedelta(microseconds=1))
    assert watched(store, job, watch)


def test_a_running_job_is_watched_from_the_end_of_its_lease_on(
    store: JobStore, tenant: str
) -> None:
    job = claimed(store, tenant)
    assert not watched(store, job, UNTIL - timedelta(microseconds=1))
    assert watched(store, job, UNTIL)


def test_a_renewed_lease_moves_the_watch(store: JobStore, tenant: str) -> None:
    job = claimed(store, tenant)
    store.transition(job, replace(job, locked_until=UNTIL + SECOND))
    assert not watched(store, job, UNTIL)
    assert watched(store, job, UNTIL + SECOND)


def test_a_resend_moves_the_watch(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant)
    resent = rules.resent(job)
    watch = rules.sweep_at(resent)
    assert watch is not None
    store.transition(job, resent)
    assert not watched(store, job, watch - timedelta(microseconds=1))
    assert watched(store, job, watch)


@pytest.mark.parametrize("outcome", ["complete", "fail"])
def test_a_finished_job_is_watched_no_more(store: JobStore, tenant: str, outcome: str) -> None:
    job = claimed(store, tenant)
    store.transition(job, outcomes_of(job)[outcome])
    assert not watched(store, job, START + timedelta(days=3650))


def test_the_oldest_watch_comes_first_and_the_limit_holds(store: JobStore, tenant: str) -> None:
    long_ago = START - timedelta(days=3650)  # before the watches of any other test
    jobs = [new_job(tenant, due_at=long_ago + n * SECOND) for n in (3, 1, 2)]
    same_shard = [job for job in jobs if sweep_shard(job.id) == sweep_shard(jobs[0].id)]
    while len(same_shard) < 3:
        job = new_job(tenant, due_at=long_ago + (4 + len(same_shard)) * SECOND)
        same_shard += [job] if sweep_shard(job.id) == sweep_shard(jobs[0].id) else []
    submit(store, *same_shard)
    found = store.due(sweep_shard(jobs[0].id), long_ago + GRACE + 60 * SECOND, 1000)
    own = [ref for ref in found if ref.tenant == tenant]
    expected = [job.ref for job in sorted(same_shard, key=lambda job: job.due_at)]
    assert own == expected
    assert store.due(sweep_shard(jobs[0].id), START + GRACE, 2) == expected[:2]


# ---------------------------------------------------------------- Events


def test_events_come_in_the_order_of_fence_and_number(store: JobStore, tenant: str) -> None:
    job = claimed(store, tenant)
    places = [(2, 1), (1, 999_999), (1, 10), (1, 9), (10, 1), (1, 2)]
    for fence, number in places:
        store.transition(job, job, [factories.event(fence=fence, number=number)])
    found = [(event.fence, event.number) for event in store.events(job.ref, None, 99)]
    assert found == sorted([(0, 0), *places])


def test_a_cursor_walks_the_whole_timeline(store: JobStore, tenant: str) -> None:
    job = claimed(store, tenant)
    noted = [
        factories.event(fence=1, number=n, kind=kind, progress=n, data={"n": n})
        for n, kind in zip(range(1, 8), itertools.cycle(EventKind))
    ]
    store.transition(job, job, noted)
    walked: list[Event] = []
    while part := store.events(job.ref, walked[-1].id if walked else None, 3):
        assert len(part) <= 3
        walked += part
    assert walked == [factories.event(), *noted]


def test_a_cursor_need_not_name_an_event(store: JobStore, tenant: str) -> None:
    job = claimed(store, tenant)
    store.transition(job, job, [factories.event(fence=1, number=n) for n in (1, 3)])
    found = store.events(job.ref, factories.event(fence=1, number=2).id, 9)
    assert [event.number for event in found] == [3]


def test_a_timeline_belongs_to_one_job_of_one_tenant(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant)
    other = claimed(store, tenant)
    store.transition(other, other, [factories.event(fence=1, number=1)])
    assert store.events(job.ref, None, 9) == [factories.event()]
    assert store.events(JobRef(tenant=f"{tenant}x", job_id=job.id), None, 9) == []

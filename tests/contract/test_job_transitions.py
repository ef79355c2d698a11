"""Contract tests of job stores for transitions, the due index and timelines."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.ends import end_event
from spinneret.jobs.kinds import all_kinds
from spinneret.jobs.models import Failure, Job, JobEvent, JobEventKind, JobRef, JobStatus
from spinneret.jobs.ports import Claimed, JobAmended, JobStore, NewJob, SubmissionRaced
from spinneret.jobs.publishing import PublishingJobStore
from spinneret.kernel.errors import LeaseLost
from spinneret.outbox.dynamo import DynamoOutboxStore
from spinneret.outbox.models import DomainEvent, SubjectRef
from spinneret.outbox.ports import OutboxStore
from tests import factories
from tests.contract.backends import OF_AWS, Tables, job_store
from tests.contract.stored_jobs import (
    SECOND,
    UNTIL,
    claimed,
    new_job,
    submitted,
)
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START, HandClock

pytestmark = OF_AWS


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
    outdated = replace(before, attempts=0, domain="other.example")
    store.transition(outdated, replace(outdated, step=None, own_faults=2))
    assert store.get(before.ref) == replace(before, step=None, own_faults=2)


# ---------------------------------------------------------------- Amendments


def test_a_job_amended_after_its_claim_moves_on_but_completes_only_in_a_later_claim(
    store: JobStore, tenant: str
) -> None:
    before = claimed(store, tenant)
    wanted = {**before.payload, "tag_ids": ["a"]}
    store.amend(before, wanted)
    now = START + SECOND
    ends = (
        rules.complete(before, {}, now),
        rules.complete_in_part(before, {}, Failure(code="X", message="x", type="permanent"), now),
    )
    for end in ends:
        with pytest.raises(JobAmended):
            store.transition(before, end, lease=factories.lease(before))
    moved = replace(before, progress=10)
    store.transition(before, moved, lease=factories.lease(before))
    store.transition(moved, rules.hand_back(moved, now), lease=factories.lease(before))
    again = store.claim(before.ref, "two", now, UNTIL)
    assert isinstance(again, Claimed)
    assert (again.job.payload, again.job.amendments) == (wanted, 1)
    store.amend(again.job, {**wanted, "more": 1})
    store.transition(
        again.job, rules.after_error(again.job, ValueError(), now, 0.5), lease=again.lease
    )
    failed = store.get(before.ref)
    assert failed is not None
    assert failed.payload == {**wanted, "more": 1}


def test_a_job_that_completes_without_a_later_amendment_completes(
    store: JobStore, tenant: str
) -> None:
    job = submitted(store, tenant)
    store.amend(job, {**job.payload, "tag_ids": ["a"]})
    claim = store.claim(job.ref, "one", START, UNTIL)
    assert isinstance(claim, Claimed)
    end = rules.complete(claim.job, {}, START + SECOND)
    for _ in range(2):  # the response to the first was lost
        store.transition(claim.job, end, lease=claim.lease)
    assert store.get(job.ref) == end


def test_only_the_job_that_was_read_is_amended(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant)
    store.amend(job, {**job.payload, "tag_ids": ["a"]})
    amended = store.get(job.ref)
    assert amended is not None
    claim = store.claim(job.ref, "one", START, UNTIL)
    assert isinstance(claim, Claimed)
    ended = rules.complete(claim.job, {}, START + SECOND)
    store.transition(claim.job, ended, lease=claim.lease)
    for stale in (job, amended, claim.job, new_job(tenant)):
        with pytest.raises(SubmissionRaced):
            store.amend(stale, {**job.payload, "tag_ids": ["b"]})
    assert store.get(job.ref) == ended


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
    "progress, the lease renewed to the same moment": {"progress": 7},
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
    store.transition(job, rules.resent(job, START))
    with pytest.raises(LeaseLost):
        store.transition(job, rules.resent(job, START))


# ---------------------------------------------------------------- Under a lease


def test_who_holds_the_lease_may_write_without_knowing_the_row(
    store: JobStore, tenant: str
) -> None:
    """After a lost response to a checkpoint, the worker doesn't know the new end of its lease."""
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
    for name, late in outcomes_of(before).items():
        if name != outcome:
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


# ---------------------------------------------------------------- Listeners


def test_listeners_get_every_transition_with_events(store: JobStore, tenant: str) -> None:
    """Listeners don't get the kernel's own bookkeeping, such as sent messages."""
    recorded: list[tuple[Job, Sequence[JobEvent]]] = []
    store = PublishingJobStore(store, lambda job, events: recorded.append((job, events)))
    before = claimed(store, tenant, watchers=1)
    noted = [factories.event(fence=1, number=1)]
    checked = replace(before, step="fetching")
    store.transition(before, checked, noted, lease=factories.lease(before))
    done = rules.complete(checked, {}, START + SECOND)
    for _ in range(2):  # the answer to the first one was lost
        store.transition(checked, done, noted, lease=factories.lease(before))
    waiting = submitted(store, tenant)
    store.transition(waiting, rules.resent(waiting, UNTIL))
    assert recorded == [(checked, noted), (done, noted), (done, noted)]


# ---------------------------------------------------------------- Ends


def events_of(store: JobStore, tables: Tables | None, job: Job) -> list[DomainEvent]:
    """Return the pending domain events of a job."""
    outbox: OutboxStore
    if tables is None:
        assert isinstance(store, FakeJobStore)
        outbox = store.outbox
    else:
        outbox = DynamoOutboxStore(tables.client, tables.names["Events"])
    ref = SubjectRef(tenant=job.tenant, subject=job.id)
    return [each.event for each in outbox.pending(ref, None, 100).events]


def test_the_end_of_a_run_is_written_with_its_event(
    store: JobStore, tables: Tables | None, tenant: str
) -> None:
    before = claimed(store, tenant, notify=("https://own.example/hook",))
    done = rules.complete(before, {"n": 1, "title": "🕸", "rate": 0.1}, START + SECOND)
    for _ in range(2):  # the answer to the first one was lost
        store.transition(before, done, lease=factories.lease(before))
    [event] = events_of(store, tables, done)
    assert event == end_event(before, done, all_kinds())
    assert event.data["result"] == done.result


def test_an_end_that_is_refused_writes_no_event(
    store: JobStore, tables: Tables | None, tenant: str
) -> None:
    before = claimed(store, tenant)
    cancelled = rules.cancel(before, START)
    store.transition(before, cancelled)
    done = rules.complete(before, {}, START + SECOND)
    with pytest.raises(LeaseLost):
        store.transition(before, done, lease=factories.lease(before))
    assert events_of(store, tables, done) == []


def test_every_run_has_an_end_of_its_own(
    store: JobStore, tables: Tables | None, tenant: str
) -> None:
    before = claimed(store, tenant)
    failed = rules.after_error(before, ValueError(), START, 0.5)
    store.transition(before, failed)
    again = rules.retry(failed, START)
    store.begin_run(failed, again, factories.event(fence=again.fence), None)
    expired = rules.expire(again, START)
    store.transition(again, expired)
    found = [(event.type, event.sequence) for event in events_of(store, tables, expired)]
    assert found == [("crawl.failed", before.fence), ("crawl.expired", expired.fence)]


# ---------------------------------------------------------------- Events


# covers P-06
def test_events_come_in_the_order_of_fence_and_number(store: JobStore, tenant: str) -> None:
    job = claimed(store, tenant)
    places = [(2, 1), (1, 999_999), (1, 10), (1, 9), (10, 1), (1, 2)]
    for fence, number in places:
        store.transition(job, job, [factories.event(fence=fence, number=number)])
    found = [(event.fence, event.number) for event in store.events(job.ref, None, 99)]
    assert found == sorted([(0, 0), *places])


# covers P-06
def test_a_cursor_walks_the_whole_timeline(store: JobStore, tenant: str) -> None:
    job = claimed(store, tenant)
    noted = [
        factories.event(fence=1, number=n, kind=kind, progress=n, data={"n": n})
        for n, kind in zip(range(1, 8), itertools.cycle(JobEventKind))
    ]
    store.transition(job, job, noted)
    walked: list[JobEvent] = []
    while part := store.events(job.ref, walked[-1].id if walked else None, 3):
        assert len(part) <= 3
        walked += part
    assert walked == [factories.event(), *noted]


# covers P-06
@pytest.mark.parametrize("write", ["submit", "transition", "begin_run", "add_children"])
def test_an_event_more_than_a_minute_ahead_is_refused(
    write: str, tables: Tables | None, tenant: str
) -> None:
    clock = HandClock()
    store: JobStore = FakeJobStore(clock=clock) if tables is None else job_store(tables, clock)
    job, new = claimed(store, tenant, family=rules.new_family(1)), new_job(tenant)
    failed = rules.after_error(job, ValueError(), START, 0.5)
    again, child = rules.retry(failed, START), rules.as_child(new_job(tenant), job)

    def at(moment: datetime) -> None:
        event = factories.event(fence=1, number=1, created_at=moment)
        match write:
            case "submit":
                store.submit([NewJob(job=new)], [event], None, factories.reply(), START)
            case "transition":
                store.transition(job, job, [event])
            case "begin_run":
                store.begin_run(failed, again, event, None)
            case "add_children":
                lease = factories.lease(job)
                store.add_children(job, job, [NewJob(job=child)], [event], lease=lease)

    if write == "begin_run":
        store.transition(job, failed)
    before = store.get(job.ref)
    with pytest.raises(ValueError, match="ahead"):
        at(START + 60 * SECOND + timedelta.resolution)
    assert (store.get(job.ref), store.get(new.ref), store.get(child.ref)) == (before, None, None)
    at(START + 60 * SECOND)


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

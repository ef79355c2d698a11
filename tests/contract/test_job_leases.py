"""Contract tests of job stores: conditions on a row for a write under a lease."""

from dataclasses import replace

import pytest

from spinneret.jobs import rules
from spinneret.jobs.models import JobStatus
from spinneret.jobs.ports import Claimed, JobStore, NewJob
from spinneret.kernel.errors import FetchTimeout, LeaseLost
from tests import factories
from tests.contract.backends import OF_AWS
from tests.contract.stored_jobs import SECOND, UNTIL, claimed, new_job, submitted
from tests.fakes.time import START

pytestmark = OF_AWS


@pytest.mark.parametrize("status", [each for each in JobStatus if each is not JobStatus.RUNNING])
def test_a_job_that_is_not_running_takes_no_write(
    store: JobStore, tenant: str, status: JobStatus
) -> None:
    """This holds even if the row still has the owner and the fence of the lease."""
    row = submitted(store, tenant, status=status, fence=1, locked_by="one", locked_until=UNTIL)
    before = replace(row, status=JobStatus.RUNNING)
    done = rules.complete(before, {}, START + SECOND)
    with pytest.raises(LeaseLost):
        store.transition(before, done, lease=factories.lease(row))
    assert store.get(row.ref) == row


ENDS = {
    "complete": lambda job: rules.complete(job, {"n": 1}, START + SECOND),
    "fail": lambda job: rules.after_error(job, ValueError(), START + SECOND, 0.5),
    "wait": lambda job: rules.after_error(job, FetchTimeout("slow"), START + SECOND, 0.5),
    "postpone": lambda job: rules.defer(job, UNTIL, "site.example", START + SECOND),
    "hand back": lambda job: rules.hand_back(job, START + SECOND),
}


@pytest.mark.parametrize("end", list(ENDS))
def test_the_end_of_a_claim_that_is_written_again_counts_as_written(
    store: JobStore, tenant: str, end: str
) -> None:
    """After a lost response, the worker repeats the write with the same events."""
    before = claimed(store, tenant, watchers=2)
    lease, after = factories.lease(before), ENDS[end](before)
    noted = [factories.event(fence=1, number=1)]
    for _ in range(3):
        assert store.transition(before, after, noted, lease=lease) == 2
        assert store.get(before.ref) == after
    assert store.events(before.ref, None, 9) == [factories.event(), *noted]


@pytest.mark.parametrize("end", ["wait", "postpone", "hand back"])
def test_the_end_of_a_claim_is_known_after_a_resend(store: JobStore, tenant: str, end: str) -> None:
    before = claimed(store, tenant)
    lease, after = factories.lease(before), ENDS[end](before)
    store.transition(before, after, lease=lease)
    resent = rules.resent(after, UNTIL)
    store.transition(after, resent)
    assert store.transition(before, after, lease=lease) == 0
    assert store.get(before.ref) == resent


@pytest.mark.parametrize("end", list(ENDS))
def test_the_end_of_a_claim_is_not_mistaken_for_another_one_s(
    store: JobStore, tenant: str, end: str
) -> None:
    before = claimed(store, tenant)
    lease, after = factories.lease(before), ENDS[end](before)
    store.transition(before, rules.after_lease_expired(before, START + SECOND))
    again = store.claim(before.ref, "two", UNTIL, UNTIL + SECOND)
    assert isinstance(again, Claimed)
    store.transition(again.job, ENDS[end](again.job), lease=again.lease)
    standing = store.get(before.ref)
    with pytest.raises(LeaseLost):
        store.transition(before, after, lease=lease)
    assert store.get(before.ref) == standing


@pytest.mark.parametrize("known", [0, 1, 3])
def test_a_write_answers_the_number_of_watchers_that_stands(
    store: JobStore, tenant: str, known: int
) -> None:
    row = claimed(store, tenant, watchers=2)
    before = replace(row, watchers=known)
    after = replace(before, step="fetching")
    assert store.transition(before, after, lease=factories.lease(row)) == 2
    assert store.get(row.ref) == replace(row, step="fetching")


def test_the_events_of_one_write_are_read_page_by_page(store: JobStore, tenant: str) -> None:
    before = claimed(store, tenant)
    lease = factories.lease(before)
    events = [factories.event(1, number) for number in range(1, 8)]
    for noted in (events[:2], events[:5], events[5:]):  # the response to the first was lost
        store.transition(before, replace(before, step="on"), noted, lease=lease)
    timeline = [factories.event(), *events]
    for start in range(8):
        after = timeline[start - 1].id if start else None
        for limit in (1, 2, 3, 9):
            found = store.events(before.ref, after, limit)
            assert found == timeline[start : start + limit]
    assert store.events(before.ref, events[-1].id, 9) == []


def test_a_timeline_begins_with_the_submission(store: JobStore, tenant: str) -> None:
    job = new_job(tenant)
    first = rules.first_event(job)
    store.submit([NewJob(job=job)], [first], None, factories.reply(), START)
    assert store.events(job.ref, None, 9) == [first]
    paused = rules.pause(job, START + SECOND)
    second = rules.status_event(paused, START + SECOND, run=1)
    store.transition(job, paused, [second])
    assert store.events(job.ref, None, 1) == [first]
    assert store.events(job.ref, None, 9) == [first, second]
    assert store.events(job.ref, first.id, 9) == [second]
    assert store.events(new_job(tenant).ref, None, 9) == []

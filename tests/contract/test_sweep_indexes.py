"""Contract tests of job stores for the sweeper's indexes: when to wake or resend a job."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from spinneret.jobs import limits, rules
from spinneret.jobs.keys import wake_shard
from spinneret.jobs.models import Job, JobRef, Priority
from spinneret.jobs.ports import DuePage, DuePosition, JobStore
from tests.contract.backends import OF_AWS
from tests.contract.stored_jobs import (
    SECOND,
    UNTIL,
    claimed,
    is_resent,
    is_woken,
    new_job,
    resends,
    submit,
    submitted,
)
from tests.fakes.time import START

pytestmark = OF_AWS

GRACE = timedelta(seconds=limits.RESEND_GRACE_SECONDS)
JUST = timedelta(microseconds=1)
EVER = START + timedelta(days=3650)
LEAD = timedelta(seconds=limits.LONG_WAIT_LEAD_SECONDS)


def test_a_pending_job_is_sent_again_from_its_grace_on_and_never_woken(
    store: JobStore, tenant: str
) -> None:
    job = submitted(store, tenant, due_at=START + SECOND)
    moment = job.due_at + GRACE
    assert not is_resent(store, job, moment - JUST)
    assert is_resent(store, job, moment)
    assert not is_woken(store, job, EVER)


def test_a_running_job_is_woken_at_the_end_of_its_lease_and_not_sent_again(
    store: JobStore, tenant: str
) -> None:
    job = claimed(store, tenant)
    assert not is_woken(store, job, UNTIL - JUST)
    assert is_woken(store, job, UNTIL)
    assert not is_resent(store, job, EVER)


def test_a_renewed_lease_moves_its_wake(store: JobStore, tenant: str) -> None:
    job = claimed(store, tenant)
    store.transition(job, replace(job, locked_until=UNTIL + SECOND))
    assert not is_woken(store, job, UNTIL)
    assert is_woken(store, job, UNTIL + SECOND)


def test_a_resend_moves_the_next_one(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant)
    resent = rules.resent(job, START + 60 * SECOND)
    store.transition(job, resent)
    moment = START + 60 * SECOND + GRACE
    assert not is_resent(store, job, moment - JUST)
    assert is_resent(store, job, moment)
    assert store.get(job.ref) == resent


def test_a_long_wait_is_woken_for_its_message_and_then_sent_again(
    store: JobStore, tenant: str
) -> None:
    job = claimed(store, tenant)
    due = START + timedelta(hours=3)
    waiting = rules.defer(job, due, "site.example", START)
    store.transition(job, waiting)
    assert not is_resent(store, job, EVER)
    assert not is_woken(store, job, due - LEAD - JUST)
    assert is_woken(store, job, due - LEAD)
    store.transition(waiting, rules.sent(waiting, due - LEAD))
    assert not is_woken(store, job, EVER)
    assert not is_resent(store, job, due + GRACE - JUST)
    assert is_resent(store, job, due + GRACE)


@pytest.mark.parametrize("due_in", [60, 3600], ids=["short wait", "long wait"])
def test_a_job_that_can_expire_is_woken_for_it(store: JobStore, tenant: str, due_in: int) -> None:
    job = claimed(store, tenant)
    end = START + timedelta(minutes=10)
    waiting = rules.defer(job, START + due_in * SECOND, "site.example", START, 600)
    store.transition(job, waiting)
    assert not is_woken(store, job, end - JUST)
    assert is_woken(store, job, end)


def test_an_expiry_long_after_the_first_resend_is_woken_for_after_that(
    store: JobStore, tenant: str
) -> None:
    end = START + timedelta(days=7)
    job = submitted(store, tenant, expires_at=end)
    assert not is_woken(store, job, EVER)
    resent = rules.resent(job, START + 60 * SECOND)
    store.transition(job, resent)
    assert not is_woken(store, job, end - JUST)
    assert is_woken(store, job, end)


@pytest.mark.parametrize("fails", [False, True])
def test_a_finished_job_is_in_neither_index(store: JobStore, tenant: str, fails: bool) -> None:
    job = claimed(store, tenant)
    done = rules.complete(job, {}, START + SECOND)
    failed = rules.after_error(job, ValueError(), START + SECOND, 0.5)
    store.transition(job, failed if fails else done)
    assert not is_woken(store, job, EVER)
    assert not is_resent(store, job, EVER)


def test_a_paused_job_is_in_neither_index(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant)
    store.transition(job, rules.pause(job, START))
    assert not is_woken(store, job, EVER)
    assert not is_resent(store, job, EVER)


def test_each_kind_and_priority_has_shards_of_its_own(store: JobStore, tenant: str) -> None:
    """Kind and priority define the lane, and the sweeper decides by the backlog of each lane."""
    job = submitted(store, tenant, priority=Priority.LOW)
    own = resends(job)
    for other in (replace(own, priority=Priority.HIGH), replace(own, kind="delivery")):
        assert job.ref not in store.to_resend(other, EVER, 1000).refs
    assert job.ref in store.to_resend(own, EVER, 1000).refs


def test_the_oldest_comes_first_and_the_limit_holds(store: JobStore, tenant: str) -> None:
    long_ago = START - timedelta(days=3650)  # before the times of any other test
    jobs = one_shard(tenant, [long_ago + n * SECOND for n in (3, 1, 2)])
    submit(store, *jobs)
    expected = [job.ref for job in sorted(jobs, key=lambda job: job.due_at)]
    found = store.to_resend(resends(jobs[0]), long_ago + GRACE + 60 * SECOND, 1000).refs
    assert [ref for ref in found if ref.tenant == tenant] == expected
    assert list(store.to_resend(resends(jobs[0]), START, 2).refs) == expected[:2]


@pytest.mark.parametrize("index", ["wake", "resend"])
def test_pages_go_through_a_shard_while_its_jobs_leave_it(
    store: JobStore, tenant: str, index: str
) -> None:
    """Some jobs have equal times; jobs of a page then leave the shard or move behind the page."""
    long_ago = START - timedelta(days=3649)
    moments = [long_ago + (n // 3) * SECOND for n in range(7)]
    jobs = one_shard(tenant, moments, expires=index == "wake")
    submit(store, *jobs)
    until = long_ago + GRACE + 60 * SECOND

    def read(after: DuePosition | None = None) -> DuePage:
        if index == "wake":
            return store.to_wake(wake_shard(jobs[0].id), until, 3, after)
        return store.to_resend(resends(jobs[0]), until, 3, after)

    seen: list[JobRef] = []
    page = read()
    while True:
        assert len(page.refs) <= 3
        own = [ref for ref in page.refs if ref.tenant == tenant]
        seen += own
        for ref in own:
            job = store.get(ref)
            assert job is not None
            moved = rules.expire(job, until) if index == "wake" else rules.resent(job, until)
            store.transition(job, moved)
        if page.after is None:
            break
        page = read(page.after)
    assert sorted(ref.job_id for ref in seen) == sorted(job.id for job in jobs)
    assert [ref for ref in read().refs if ref.tenant == tenant] == []


def one_shard(tenant: str, moments: list[datetime], *, expires: bool = False) -> list[Job]:
    """Return jobs due at these times, all in one shard of each index."""
    jobs: list[Job] = []
    while len(jobs) < len(moments):
        moment = moments[len(jobs)]
        job = new_job(tenant, due_at=moment, expires_at=moment if expires else None)
        if not jobs or wake_shard(job.id) == wake_shard(jobs[0].id):
            jobs.append(job)
    return jobs

"""What every job store shows the sweeper, and when."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from spinneret.jobs import rules
from spinneret.jobs.keys import sweep_shard
from spinneret.jobs.models import JobRef
from spinneret.jobs.ports import JobStore
from spinneret.kernel import bounds
from tests.contract.backends import OF_AWS
from tests.contract.stored_jobs import (
    SECOND,
    UNTIL,
    claimed,
    is_due,
    new_job,
    submit,
    submitted,
)
from tests.fakes.time import START

pytestmark = OF_AWS

GRACE = timedelta(seconds=bounds.RESEND_GRACE_SECONDS)


def test_a_pending_job_is_watched_from_its_grace_on(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant, due_at=START + SECOND)
    moment = job.due_at + GRACE
    assert not is_due(store, job, moment - timedelta(microseconds=1))
    assert is_due(store, job, moment)


def test_a_running_job_is_watched_from_the_end_of_its_lease_on(
    store: JobStore, tenant: str
) -> None:
    job = claimed(store, tenant)
    assert not is_due(store, job, UNTIL - timedelta(microseconds=1))
    assert is_due(store, job, UNTIL)


def test_a_renewed_lease_moves_the_watch(store: JobStore, tenant: str) -> None:
    job = claimed(store, tenant)
    store.transition(job, replace(job, locked_until=UNTIL + SECOND))
    assert not is_due(store, job, UNTIL)
    assert is_due(store, job, UNTIL + SECOND)


def test_a_resend_moves_the_watch(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant)
    resent = rules.resent(job, START)
    moment = rules.sweep_at(resent)
    assert moment is not None
    store.transition(job, resent)
    assert not is_due(store, job, moment - timedelta(microseconds=1))
    assert is_due(store, job, moment)


@pytest.mark.parametrize("fails", [False, True])
def test_a_finished_job_is_watched_no_more(store: JobStore, tenant: str, fails: bool) -> None:
    job = claimed(store, tenant)
    done = rules.complete(job, {}, START + SECOND)
    failed = rules.after_error(job, ValueError(), START + SECOND, 0.5)
    store.transition(job, failed if fails else done)
    assert not is_due(store, job, START + timedelta(days=3650))


def test_an_end_that_nobody_was_told_is_watched_until_it_is(store: JobStore, tenant: str) -> None:
    job = claimed(store, tenant, notify=("end_1",))
    done = rules.complete(job, {}, START)
    store.transition(job, done)
    assert not is_due(store, job, START + GRACE - timedelta(microseconds=1))
    assert is_due(store, job, START + GRACE)
    tried = rules.notification_tried(done, START + GRACE)
    store.transition(done, tried)
    assert not is_due(store, job, START + 3 * GRACE - timedelta(microseconds=1))
    assert is_due(store, job, START + 3 * GRACE)
    assert store.get(job.ref) == tried
    store.transition(tried, rules.mark_notified(tried))
    assert not is_due(store, job, START + timedelta(days=3650))


def test_the_oldest_watch_comes_first_and_the_limit_holds(store: JobStore, tenant: str) -> None:
    long_ago = START - timedelta(days=3650)  # before the sweep times of any other test
    jobs = [new_job(tenant, due_at=long_ago + n * SECOND) for n in (3, 1, 2)]
    same_shard = [job for job in jobs if sweep_shard(job.id) == sweep_shard(jobs[0].id)]
    while len(same_shard) < 3:
        job = new_job(tenant, due_at=long_ago + (4 + len(same_shard)) * SECOND)
        same_shard += [job] if sweep_shard(job.id) == sweep_shard(jobs[0].id) else []
    submit(store, *same_shard)
    found = store.due(sweep_shard(jobs[0].id), long_ago + GRACE + 60 * SECOND, 1000).refs
    own = [ref for ref in found if ref.tenant == tenant]
    expected = [job.ref for job in sorted(same_shard, key=lambda job: job.due_at)]
    assert own == expected
    assert list(store.due(sweep_shard(jobs[0].id), START + GRACE, 2).refs) == expected[:2]


def test_pages_go_through_a_shard_while_its_jobs_leave_it(store: JobStore, tenant: str) -> None:
    """Equal times, jobs that are brought back, and others that move behind the page."""
    first = new_job(tenant, due_at=START - timedelta(days=3649))
    shard, jobs = sweep_shard(first.id), [first]
    while len(jobs) < 7:
        job = new_job(tenant, due_at=first.due_at + (len(jobs) // 3) * SECOND)
        jobs += [job] if sweep_shard(job.id) == shard else []
    submit(store, *jobs)
    now = first.due_at + GRACE + 60 * SECOND
    seen: list[JobRef] = []
    page = store.due(shard, now, 3)
    while True:
        own = [ref for ref in page.refs if ref.tenant == tenant]
        assert len(page.refs) <= 3
        seen += own
        for ref in own:
            job = store.get(ref)
            assert job is not None
            store.transition(job, rules.resent(job, now))
        if page.after is None:
            break
        page = store.due(shard, now, 3, page.after)
    assert sorted(ref.job_id for ref in seen) == sorted(job.id for job in jobs)
    assert [ref for ref in store.due(shard, now, 9).refs if ref.tenant == tenant] == []

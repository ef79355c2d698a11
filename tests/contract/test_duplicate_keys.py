"""Contract tests of job stores for duplicate keys: each key has at most one live job."""

from dataclasses import replace
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobStatus
from spinneret.jobs.ports import Claimed, Holder, JobStore, NewJob, SubmissionRaced
from spinneret.kernel.errors import NotFound
from tests import factories
from tests.contract.backends import OF_AWS
from tests.contract.stored_jobs import SECOND, claimed, new_job, submitted
from tests.fakes.time import START

pytestmark = OF_AWS


def failed(store: JobStore, tenant: str) -> Job:
    """Return a failed job that still holds its duplicate key."""
    before = claimed(store, tenant, duplicate_key="same")
    after = rules.after_error(before, NotFound("gone"), START + SECOND, 0.5)
    store.transition(before, after)
    return after


def take_over(store: JobStore, late: Job, holder: Holder | None) -> None:
    news = [NewJob(job=late, replaces=holder)]
    store.submit(news, [factories.event()], None, factories.reply(), START)


def test_a_duplicate_key_is_taken_over_only_from_the_holder_that_is_named(
    store: JobStore, tenant: str
) -> None:
    holder = failed(store, tenant)
    late = new_job(tenant, duplicate_key="same")
    for wrong in (None, Holder(job_id="job_other", job=None)):
        with pytest.raises(SubmissionRaced):
            take_over(store, late, wrong)
    take_over(store, late, Holder(job_id=holder.id, job=holder))
    assert store.find_duplicates(tenant, ["same"]) == {"same": late.id}
    assert store.get(holder.ref) == holder


def test_a_duplicate_key_is_not_taken_from_a_holder_that_began_again(
    store: JobStore, tenant: str
) -> None:
    ended = failed(store, tenant)
    again = rules.retry(ended, START + 2 * SECOND)
    store.begin_run(
        ended, again, rules.status_event(again, START), Holder(job_id=ended.id, job=ended)
    )
    late = new_job(tenant, duplicate_key="same")
    with pytest.raises(SubmissionRaced):
        take_over(store, late, Holder(job_id=ended.id, job=ended))
    assert store.get(late.ref) is None
    assert store.find_duplicates(tenant, ["same"]) == {"same": ended.id}


@pytest.mark.parametrize(
    "seen",
    [{"status": JobStatus.COMPLETED}, {"fence": 0}],
    ids=lambda seen: next(iter(seen)),
)
def test_a_duplicate_key_is_not_taken_from_a_holder_that_stands_otherwise(
    store: JobStore, tenant: str, seen: dict[str, Any]
) -> None:
    holder = failed(store, tenant)
    late = new_job(tenant, duplicate_key="same")
    with pytest.raises(SubmissionRaced):
        take_over(store, late, Holder(job_id=holder.id, job=replace(holder, **seen)))
    assert store.get(late.ref) is None
    assert store.find_duplicates(tenant, ["same"]) == {"same": holder.id}


def test_a_duplicate_key_whose_holder_is_gone_can_be_taken_over(
    store: JobStore, tenant: str
) -> None:
    holder = failed(store, tenant)
    late = new_job(tenant, duplicate_key="same")
    take_over(store, late, Holder(job_id=holder.id, job=None))
    assert store.find_duplicates(tenant, ["same"]) == {"same": late.id}


def test_a_key_that_names_a_holder_must_be_held(store: JobStore, tenant: str) -> None:
    job = new_job(tenant, duplicate_key="same")
    with pytest.raises(SubmissionRaced):
        take_over(store, job, Holder(job_id="job_gone", job=None))
    assert store.get(job.ref) is None


# ---------------------------------------------------------------- Retries


def test_a_job_that_begins_again_takes_its_duplicate_key_back(store: JobStore, tenant: str) -> None:
    first = failed(store, tenant)
    second = new_job(tenant, duplicate_key="same")
    take_over(store, second, Holder(job_id=first.id, job=first))
    again = rules.retry(first, START + 2 * SECOND)
    recorded = rules.status_event(again, START + 2 * SECOND, run=2)
    for outdated in (None, Holder(job_id=first.id, job=first)):
        with pytest.raises(SubmissionRaced):
            store.begin_run(first, again, recorded, outdated)
    assert store.get(first.ref) == first
    store.begin_run(first, again, recorded, Holder(job_id=second.id, job=None))
    assert store.get(first.ref) == again
    assert store.find_duplicates(tenant, ["same"]) == {"same": first.id}
    assert store.events(first.ref, None, 9)[-1] == recorded


def test_a_key_is_not_taken_back_from_a_holder_that_was_retried_meanwhile(
    store: JobStore, tenant: str
) -> None:
    """Two failed jobs of one page are retried at the same time."""
    first = failed(store, tenant)
    second = new_job(tenant, duplicate_key="same")
    take_over(store, second, Holder(job_id=first.id, job=first))
    outcome = store.claim(second.ref, "one", START, START + SECOND)
    assert isinstance(outcome, Claimed)
    ended = rules.after_error(outcome.job, NotFound("gone"), START + SECOND, 0.5)
    store.transition(outcome.job, ended)
    for job in (ended, first):
        again = rules.retry(job, START + 2 * SECOND)
        event, holder = rules.status_event(again, START), Holder(job_id=second.id, job=ended)
        if job is ended:
            store.begin_run(job, again, event, holder)
        else:
            with pytest.raises(SubmissionRaced):
                store.begin_run(job, again, event, holder)
    assert store.get(first.ref) == first


def test_a_job_without_a_duplicate_key_begins_again_too(store: JobStore, tenant: str) -> None:
    before = claimed(store, tenant)
    ended = rules.after_error(before, NotFound("gone"), START + SECOND, 0.5)
    store.transition(before, ended)
    again = rules.retry(ended, START + 2 * SECOND)
    recorded = rules.status_event(again, START, run=2)
    store.begin_run(ended, again, recorded, None)
    with pytest.raises(SubmissionRaced):
        store.begin_run(ended, again, recorded, None)
    assert store.get(before.ref) == again


@pytest.mark.parametrize(
    "seen",
    [
        {"status": JobStatus.CANCELLED},
        {"fence": 0},
        {"locked_by": "one"},
        {"locked_until": START},
        {"sends": 2},
        {"watchers": 1},
    ],
    ids=lambda seen: next(iter(seen)),
)
def test_a_job_that_stands_otherwise_does_not_begin_again(
    store: JobStore, tenant: str, seen: dict[str, Any]
) -> None:
    ended = failed(store, tenant)
    again = rules.retry(ended, START + 2 * SECOND)
    recorded = rules.status_event(again, START, run=2)
    before = store.events(ended.ref, None, 9)
    with pytest.raises(SubmissionRaced):
        store.begin_run(replace(ended, **seen), again, recorded, Holder(job_id=ended.id, job=ended))
    assert store.get(ended.ref) == ended
    assert store.events(ended.ref, None, 9) == before


def test_a_job_takes_its_duplicate_key_back_only_if_it_is_as_free_as_it_looked(
    store: JobStore, tenant: str
) -> None:
    other = submitted(store, tenant, duplicate_key="same")
    row = claimed(store, tenant)
    ended = rules.after_error(row, NotFound("gone"), START + SECOND, 0.5)
    store.transition(row, ended)
    keyed = replace(ended, duplicate_key="same")
    again = rules.retry(keyed, START + 2 * SECOND)
    with pytest.raises(SubmissionRaced):
        store.begin_run(keyed, again, rules.status_event(again, START), None)
    assert store.get(ended.ref) == ended
    assert store.find_duplicates(tenant, ["same"]) == {"same": other.id}


def test_duplicate_keys_belong_to_their_tenant(store: JobStore, tenant: str) -> None:
    own = submitted(store, tenant, duplicate_key="same")
    assert store.find_duplicates(f"{tenant}x", ["same"]) == {}
    foreign = submitted(store, f"{tenant}x", duplicate_key="same")
    assert store.find_duplicates(tenant, ["same", "same", "none"]) == {"same": own.id}
    assert store.find_duplicates(f"{tenant}x", ["same"]) == {"same": foreign.id}
    assert store.find_duplicates(tenant, []) == {}

"""Contract tests of job stores for submitting, reading and claiming jobs."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from spinneret.crawl import limits
from spinneret.jobs import rules
from spinneret.jobs.models import Failure, JobRef, JobStatus
from spinneret.jobs.ports import Claimed, JobStore, NewJob, Refused, SubmissionRaced
from spinneret.kernel import bounds
from tests import factories
from tests.contract.backends import OF_AWS
from tests.contract.stored_jobs import SECOND, UNTIL, claimed, new_job, submit, submitted
from tests.fakes.time import START

pytestmark = OF_AWS

# ---------------------------------------------------------------- Reading


def test_a_job_is_read_back_as_it_was_written(store: JobStore, tenant: str) -> None:
    job = submitted(
        store,
        tenant,
        payload={"url": "https://x.example/", "n": 1, "f": 0.1, "none": None, "deep": {"a": [1]}},
        run=2,
        own_faults=3,
        waiting_since=START - SECOND,
        last_error=Failure(code="X", message="m", type="transient", details={"status_code": 503}),
        duplicate_key=uuid4().hex,
    )
    assert store.get(job.ref) == job


def test_a_large_payload_in_many_scripts_survives(store: JobStore, tenant: str) -> None:
    text = 'naïve Größe Ελλάδα עברית 日本語 🕷🕸 \u0000 \ue000 "quoted" \\ \n' * 1500
    job = submitted(store, tenant, payload={"url": "https://x.example/", "text": text})
    found = store.get(job.ref)
    assert found is not None
    assert found.payload["text"] == text


def test_an_unknown_and_a_foreign_id_are_equally_unknown(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant)
    assert store.get(JobRef(tenant=tenant, job_id="job_unknown")) is None
    assert store.get(JobRef(tenant=f"{tenant}x", job_id=job.id)) is None


@pytest.mark.parametrize("job_id", ["x#JOB", "#", "a b", "ü", "x" * 3000])
def test_an_id_of_any_form_is_just_unknown(store: JobStore, tenant: str, job_id: str) -> None:
    assert store.get(JobRef(tenant=tenant, job_id=job_id)) is None


# ---------------------------------------------------------------- Submitting


def test_a_submission_writes_jobs_first_events_and_keys_together(
    store: JobStore, tenant: str
) -> None:
    one, two = (new_job(tenant, duplicate_key=uuid4().hex) for _ in range(2))
    request = factories.request_key(tenant=tenant)
    events = [factories.event(message=job.id) for job in (one, two)]
    news = [NewJob(job=one), NewJob(job=two)]
    store.submit(news, events, request, factories.reply(job_id=one.id), START)
    assert [store.get(job.ref) for job in (one, two)] == [one, two]
    assert [store.events(job.ref, None, 9) for job in (one, two)] == [[event] for event in events]
    held = store.find_duplicates(tenant, [str(one.duplicate_key), str(two.duplicate_key)])
    assert held == {one.duplicate_key: one.id, two.duplicate_key: two.id}
    stored = store.find_reply(request, START)
    assert stored is not None
    assert (stored.payload, stored.reply) == (request.payload, factories.reply(job_id=one.id))


def test_the_largest_submission_fits_one_transaction(store: JobStore, tenant: str) -> None:
    jobs = [new_job(tenant, duplicate_key=uuid4().hex) for _ in range(limits.URLS_PER_CRAWL)]
    submit(store, *jobs)
    keys = [str(job.duplicate_key) for job in jobs]
    assert store.find_duplicates(tenant, keys) == {job.duplicate_key: job.id for job in jobs}


def test_a_taken_duplicate_key_leaves_nothing_of_the_submission(
    store: JobStore, tenant: str
) -> None:
    holder = submitted(store, tenant, duplicate_key="taken")
    free, late = new_job(tenant, duplicate_key="free"), new_job(tenant, duplicate_key="taken")
    request = factories.request_key(tenant=tenant)
    news = [NewJob(job=free), NewJob(job=late)]
    with pytest.raises(SubmissionRaced):
        store.submit(news, [factories.event()] * 2, request, factories.reply(), START)
    assert store.get(free.ref) is None
    assert store.get(late.ref) is None
    assert store.events(free.ref, None, 9) == []
    assert store.find_reply(request, START) is None
    assert store.find_duplicates(tenant, ["free", "taken"]) == {"taken": holder.id}


def test_a_used_idempotency_key_leaves_nothing_of_the_submission(
    store: JobStore, tenant: str
) -> None:
    request = factories.request_key(tenant=tenant)
    store.submit([], [], request, factories.reply(job_id="first"), START)
    late = new_job(tenant, duplicate_key="free")
    other = replace(request, payload="payload-2")
    with pytest.raises(SubmissionRaced):
        store.submit([NewJob(job=late)], [factories.event()], other, factories.reply(), START)
    assert store.get(late.ref) is None
    assert store.find_duplicates(tenant, ["free"]) == {}


def test_an_id_that_exists_is_not_written_again(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant)
    with pytest.raises(SubmissionRaced):
        submit(store, replace(job, payload={"url": "https://other.example/"}))
    assert store.get(job.ref) == job


# ---------------------------------------------------------------- Replies


def test_a_reply_is_found_until_it_expires(store: JobStore, tenant: str) -> None:
    request = factories.request_key(tenant=tenant)
    reply = factories.reply(job_id="first", nested={"none": None, "list": [1, "1", True]})
    store.submit([], [], request, reply, START)
    expires = START + timedelta(seconds=bounds.IDEMPOTENCY_SECONDS)
    before = store.find_reply(request, expires - timedelta(microseconds=1))
    assert before is not None
    assert before.reply == reply
    assert store.find_reply(request, expires) is None


def test_an_expired_reply_gives_way_to_a_new_one(store: JobStore, tenant: str) -> None:
    request = factories.request_key(tenant=tenant)
    store.submit([], [], request, factories.reply(job_id="first"), START)
    later = START + timedelta(seconds=bounds.IDEMPOTENCY_SECONDS)
    second = replace(request, payload="payload-2")
    store.submit([], [], second, factories.reply(job_id="second"), later)
    stored = store.find_reply(second, later)
    assert stored is not None
    assert (stored.payload, stored.reply) == ("payload-2", factories.reply(job_id="second"))


def test_a_reply_comes_with_the_payload_of_its_own_request(store: JobStore, tenant: str) -> None:
    request = factories.request_key(tenant=tenant)
    store.submit([], [], request, factories.reply(), START)
    stored = store.find_reply(replace(request, payload="another"), START)
    assert stored is not None
    assert stored.payload == request.payload


@pytest.mark.parametrize("other", [{"tenant": "t-other"}, {"scope": "scope-2"}])
def test_replies_belong_to_tenant_and_scope(
    store: JobStore, tenant: str, other: dict[str, str]
) -> None:
    request = factories.request_key(tenant=tenant)
    store.submit([], [], request, factories.reply(), START)
    assert store.find_reply(replace(request, **other), START) is None


# ---------------------------------------------------------------- Claiming


def test_a_claim_takes_a_pending_job(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant, fence=4, attempts=1)
    outcome = store.claim(job.ref, "one", START + SECOND, UNTIL)
    assert isinstance(outcome, Claimed)
    assert outcome.job == store.get(job.ref)
    assert outcome.job == replace(
        job,
        status=JobStatus.RUNNING,
        fence=5,
        locked_by="one",
        locked_until=UNTIL,
        claimed_at=START + SECOND,
        updated_at=START + SECOND,
        started_at=START + SECOND,
    )
    assert outcome.lease == factories.lease(outcome.job)


def test_the_first_start_is_kept(store: JobStore, tenant: str) -> None:
    first = claimed(store, tenant)
    store.transition(first, rules.hand_back(first, START + SECOND))
    outcome = store.claim(first.ref, "two", START + 2 * SECOND, UNTIL)
    assert isinstance(outcome, Claimed)
    assert outcome.job.started_at == first.started_at
    assert outcome.job.fence == first.fence + 1


@pytest.mark.parametrize(
    ("due_in", "wins"),
    [(timedelta(microseconds=1), False), (timedelta(0), True), (timedelta(seconds=-9), True)],
)
def test_a_job_is_claimed_when_it_is_due(
    store: JobStore, tenant: str, due_in: timedelta, wins: bool
) -> None:
    job = submitted(store, tenant, due_at=START + due_in)
    outcome = store.claim(job.ref, "one", START, UNTIL)
    assert isinstance(outcome, Claimed) is wins
    if isinstance(outcome, Refused):
        assert outcome.job == job == store.get(job.ref)


@pytest.mark.parametrize(
    ("expires_in", "wins"),
    [(timedelta(seconds=-9), False), (timedelta(0), False), (timedelta(microseconds=1), True)],
)
def test_a_job_is_claimed_until_it_expires(
    store: JobStore, tenant: str, expires_in: timedelta, wins: bool
) -> None:
    job = submitted(store, tenant, expires_at=START + expires_in)
    outcome = store.claim(job.ref, "one", START, UNTIL)
    assert isinstance(outcome, Claimed) is wins
    if isinstance(outcome, Refused):
        assert outcome.job == job == store.get(job.ref)


@pytest.mark.parametrize("status", [each for each in JobStatus if each is not JobStatus.PENDING])
def test_only_a_pending_job_is_claimed(store: JobStore, tenant: str, status: JobStatus) -> None:
    job = submitted(store, tenant, status=status, locked_by="other", locked_until=START)
    assert store.claim(job.ref, "one", START, UNTIL) == Refused(job=job)
    assert store.get(job.ref) == job


def test_an_unknown_and_a_foreign_job_are_refused_alike(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant)
    for ref in (
        JobRef(tenant=tenant, job_id="job_unknown"),
        JobRef(tenant=f"{tenant}x", job_id=job.id),
    ):
        assert store.claim(ref, "one", START, UNTIL) == Refused(job=None)
    assert store.get(JobRef(tenant=tenant, job_id="job_unknown")) is None


@pytest.mark.parametrize(("kinds", "wins"), [(("crawl", "older"), True), (("older",), False)])
def test_a_job_is_claimed_if_its_kind_is_among_those_wanted(
    store: JobStore, tenant: str, kinds: tuple[str, ...], wins: bool
) -> None:
    job = submitted(store, tenant)
    outcome = store.claim(job.ref, "one", START, UNTIL, kinds)
    assert isinstance(outcome, Claimed) is wins
    if isinstance(outcome, Refused):
        assert outcome.job == job == store.get(job.ref)


# covers P-02
def test_one_of_many_claimers_wins(store: JobStore, tenant: str) -> None:
    job = submitted(store, tenant)
    outcomes = [store.claim(job.ref, f"owner-{n}", START, UNTIL) for n in range(10)]
    [first, *others] = outcomes
    assert isinstance(first, Claimed)
    assert all(isinstance(each, Refused) for each in others)
    found = store.get(job.ref)
    assert found is not None
    assert (found.locked_by, found.fence) == ("owner-0", 1)


def test_a_claim_whose_answer_was_lost_is_recognised_by_its_owner(
    store: JobStore, tenant: str
) -> None:
    job = submitted(store, tenant)
    first = store.claim(job.ref, "one", START, UNTIL)
    assert store.claim(job.ref, "one", START, UNTIL) == first
    assert isinstance(first, Claimed)
    assert first.lease.fence == 1
    assert isinstance(store.claim(job.ref, "two", START, UNTIL), Refused)

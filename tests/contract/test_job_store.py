"""What every job store holds: the fake, moto, and DynamoDB Local."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from spinneret.jobs import rules
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.keys import sweep_shard
from spinneret.jobs.models import Event, EventKind, Failure, Job, JobRef, JobStatus
from spinneret.jobs.ports import Claimed, JobStore, NewJob, Refused, SubmissionRaced
from spinneret.kernel import limits
from spinneret.kernel.errors import LeaseLost
from tests import factories
from tests.contract.conftest import OF_AWS, Tables
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START

pytestmark = OF_AWS

UNTIL = START + timedelta(seconds=60)
SECOND = timedelta(seconds=1)
GRACE = timedelta(seconds=limits.RESEND_GRACE_SECONDS)


@pytest.fixture
def store(tables: Tables | None) -> JobStore:
    if tables is None:
        return FakeJobStore()
    return DynamoJobStore(tables.client, tables.names["Jobs"], tables.names["Idempotency"])


def new_job(tenant: str, **given: Any) -> Job:
    return factories.job(tenant=tenant, id=f"job_{uuid4().hex}", **given)


def submit(store: JobStore, *jobs: Job) -> None:
    news = [NewJob(job=job) for job in jobs]
    store.submit(news, [factories.event()] * len(jobs), None, factories.reply(), START)


def submitted(store: JobStore, tenant: str, **given: Any) -> Job:
    job = new_job(tenant, **given)
    submit(store, job)
    return job


def claimed(store: JobStore, tenant: str, owner: str = "one", **given: Any) -> Job:
    job = submitted(store, tenant, **given)
    outcome = store.claim(job.ref, owner, START, UNTIL)
    assert isinstance(outcome, Claimed)
    return outcome.job


def watched(store: JobStore, job: Job, now: Any) -> bool:
    """Whether the sweeper would find the job; other tests share the index of a real store."""
    return job.ref in store.due(sweep_shard(job.id), now, 1000)


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
    text = 'naïve Größe Ελλάδα עברית 日本語 🕷🕸 \u0000 \ue000 "quoted" \\ \n' * 2000
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


def test_a_duplicate_key_is_taken_over_only_from_the_holder_that_is_named(
    store: JobStore, tenant: str
) -> None:
    holder = submitted(store, tenant, duplicate_key="same")
    late = new_job(tenant, duplicate_key="same")
    for wrong in (None, "job_other"):
        with pytest.raises(SubmissionRaced):
            store.submit(
                [NewJob(job=late, replaces=wrong)],
                [factories.event()],
                None,
                factories.reply(),
                START,
            )
    news = [NewJob(job=late, replaces=holder.id)]
    store.submit(news, [factories.event()], None, factories.reply(), START)
    assert store.find_duplicates(tenant, ["same"]) == {"same": late.id}
    assert store.get(holder.ref) == holder


def test_a_key_that_names_a_holder_must_be_held(store: JobStore, tenant: str) -> None:
    job = new_job(tenant, duplicate_key="same")
    news = [NewJob(job=job, replaces="job_gone")]
    with pytest.raises(SubmissionRaced):
        store.submit(news, [factories.event()], None, factories.reply(), START)
    assert store.get(job.ref) is None


def test_duplicate_keys_belong_to_their_tenant(store: JobStore, tenant: str) -> None:
    own = submitted(store, tenant, duplicate_key="same")
    assert store.find_duplicates(f"{tenant}x", ["same"]) == {}
    foreign = submitted(store, f"{tenant}x", duplicate_key="same")
    assert store.find_duplicates(tenant, ["same", "same", "none"]) == {"same": own.id}
    assert store.find_duplicates(f"{tenant}x", ["same"]) == {"same": foreign.id}
    assert store.find_duplicates(tenant, []) == {}


# ---------------------------------------------------------------- Replies


def test_a_reply_is_found_until_it_expires(store: JobStore, tenant: str) -> None:
    request = factories.request_key(tenant=tenant)
    reply = factories.reply(job_id="first", nested={"none": None, "list": [1, "1", True]})
    store.submit([], [], request, reply, START)
    expires = START + timedelta(seconds=limits.IDEMPOTENCY_SECONDS)
    before = store.find_reply(request, expires - timedelta(microseconds=1))
    assert before is not None
    assert before.reply == reply
    assert store.find_reply(request, expires) is None


def test_an_expired_reply_gives_way_to_a_new_one(store: JobStore, tenant: str) -> None:
    request = factories.request_key(tenant=tenant)
    store.submit([], [], request, factories.reply(job_id="first"), START)
    later = START + timedelta(seconds=limits.IDEMPOTENCY_SECONDS)
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
}


@pytest.mark.parametrize("stale", list(STALE))
def test_a_stale_transition_writes_nothing(store: JobStore, tenant: str, stale: str) -> None:
    current = claimed(store, tenant)
    before = replace(current, **STALE[stale])
    after = rules.complete(before, {"stale": True}, START + SECOND)
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
    store.transition(job, rules.resent(job))
    assert not watched(store, job, START + GRACE)
    assert watched(store, job, START + 2 * GRACE)


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

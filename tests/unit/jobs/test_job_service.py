"""Submitting and reading jobs: lanes, duplicates, and a queue that is down."""

import pytest

from spinneret.jobs import limits, rules
from spinneret.jobs.models import JobRef, JobStatus, Lane, Priority
from spinneret.jobs.ports import Claimed, NewJob
from spinneret.jobs.service import JobService
from spinneret.jobs.sweeper import Sweeper
from spinneret.kernel.errors import (
    FetchTimeout,
    NotFound,
)
from tests import factories
from tests.factories import TENANT
from tests.fakes.jobs import FakeJobQueue, FakeJobStore, Sent, no_parent
from tests.fakes.time import HandClock
from tests.kinds import CRAWL_HIGH, CRAWL_LOW, CRAWL_NORMAL, KINDS
from tests.unit.jobs.submissions import HOUR, finish, ids, stored, submit

# ---------------------------------------------------------------- Accepting


def test_an_accepted_job_is_stored_then_sent(
    service: JobService, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    [job_id] = ids(submit(service, factories.draft(payload={"url": "https://x.example/"})))
    job = stored(store, job_id)
    assert (job.status, job.kind, job.attempts) == (JobStatus.PENDING, "crawl", 0)
    assert (job.created_at, job.due_at) == (clock(), clock())
    assert job.payload == {"url": "https://x.example/"}
    assert queue.take() == [Sent(CRAWL_NORMAL, job.ref, 0)]
    [event] = store.events(job.ref, None, 9)
    assert (event.fence, event.data) == (0, {"status": "pending", "run": 1})


# covers P-09
@pytest.mark.parametrize(
    ("priority", "lane"),
    [
        (Priority.CRITICAL, CRAWL_HIGH),
        (Priority.HIGH, CRAWL_HIGH),
        (Priority.NORMAL, CRAWL_NORMAL),
        (Priority.LOW, CRAWL_LOW),
    ],
)
def test_a_priority_has_its_lane(
    service: JobService, queue: FakeJobQueue, priority: Priority, lane: Lane
) -> None:
    submit(service, factories.draft(priority=priority))
    assert [sent.lane for sent in queue.take()] == [lane]


def test_a_queue_that_is_down_delays_but_does_not_refuse(
    service: JobService, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    queue.available = False
    [job_id] = ids(submit(service))
    assert queue.sent == []
    queue.available = True
    sweeper = Sweeper(
        store=store,
        queue=queue,
        kinds=KINDS,
        clock=clock,
        look_at_parent=no_parent,
    )
    assert sweeper.sweep().resent == 0
    clock.advance(limits.RESEND_GRACE_SECONDS)
    assert sweeper.sweep().resent == 1
    assert queue.take() == [Sent(CRAWL_NORMAL, stored(store, job_id).ref, 0)]


# ---------------------------------------------------------------- Duplicates


# covers P-05
def test_a_live_job_is_returned_instead_of_a_second_one(
    service: JobService, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    first = submit(service)
    again = submit(service)
    assert ids(again) == ids(first)
    assert again.reply.body["duplicates"] == [True]
    claimed = store.claim(stored(store, ids(first)[0]).ref, "one", clock(), clock())
    assert isinstance(claimed, Claimed)
    assert ids(submit(service)) == ids(first)
    assert len(queue.take()) == 1


@pytest.mark.parametrize(("age", "fresh"), [(0.0, True), (24 * HOUR - 1, True), (24 * HOUR, False)])
def test_a_result_answers_for_a_day(
    service: JobService, store: FakeJobStore, clock: HandClock, age: float, fresh: bool
) -> None:
    [job_id] = ids(submit(service))
    finish(store, job_id, clock, lambda job: rules.complete(job, {}, clock()))
    clock.advance(age)
    again = submit(service)
    assert (ids(again) == [job_id]) is fresh
    assert again.reply.body["duplicates"] == [fresh]


def test_a_result_answers_until_the_moment_that_its_job_names(
    service: JobService, store: FakeJobStore, clock: HandClock
) -> None:
    [job_id] = ids(submit(service))
    finish(store, job_id, clock, lambda job: rules.complete(job, {}, clock()))
    expires = stored(store, job_id).result_expires_at
    assert expires is not None
    clock.advance((expires - clock()).total_seconds() - 0.001)
    assert ids(submit(service)) == [job_id]
    clock.advance(0.001)
    assert ids(submit(service)) != [job_id]


def test_a_new_job_takes_over_from_an_outdated_result(
    service: JobService, store: FakeJobStore, clock: HandClock
) -> None:
    [old] = ids(submit(service))
    finish(store, old, clock, lambda job: rules.complete(job, {}, clock()))
    clock.advance(25 * HOUR)
    [new] = ids(submit(service))
    assert ids(submit(service)) == [new]
    assert new != old


def test_a_failure_does_not_block_a_new_try(
    service: JobService, store: FakeJobStore, clock: HandClock
) -> None:
    [failed] = ids(submit(service))
    finish(store, failed, clock, lambda job: rules.after_error(job, ValueError(), clock(), 0.5))
    again = submit(service)
    assert ids(again) != [failed]
    assert again.reply.body["duplicates"] == [False]


def test_a_waiting_retry_is_still_live(
    service: JobService, store: FakeJobStore, clock: HandClock
) -> None:
    [job_id] = ids(submit(service))
    finish(
        store, job_id, clock, lambda job: rules.after_error(job, FetchTimeout("s"), clock(), 0.5)
    )
    assert ids(submit(service)) == [job_id]


def test_force_bypasses_the_duplicate_check(service: JobService, queue: FakeJobQueue) -> None:
    forced = factories.draft(duplicate_key=None)
    found = [ids(submit(service, each)) for each in (factories.draft(), forced, forced)]
    assert len({job_id for [job_id] in found}) == 3
    assert ids(submit(service)) == found[0]
    assert len(queue.take()) == 3


def test_a_holder_that_is_gone_is_replaced(service: JobService, store: FakeJobStore) -> None:
    """The row may be deleted long before the record that names it."""
    gone = factories.job(id="job_gone", duplicate_key="same-page")
    store.submit([NewJob(job=gone)], [factories.event()], None, factories.reply(), factories.START)
    store._jobs.clear()
    assert submit(service).reply.body["duplicates"] == [False]


def test_one_page_twice_in_a_request_is_one_job(
    service: JobService, store: FakeJobStore, queue: FakeJobQueue
) -> None:
    one, other = factories.draft(), factories.draft(duplicate_key="other-page")
    submitted = submit(service, one, other, one)
    first, second, third = ids(submitted)
    assert first == third != second
    assert submitted.reply.body["duplicates"] == [False, False, True]
    assert len(queue.take()) == 2


def test_drafts_keep_their_order_among_duplicates(service: JobService) -> None:
    [known] = ids(submit(service))
    drafts = [factories.draft(duplicate_key=key) for key in ("a", "same-page", "b")]
    submitted = submit(service, *drafts)
    assert ids(submitted)[1] == known
    assert submitted.reply.body["duplicates"] == [False, True, False]


def test_two_tenants_never_share_a_job(service: JobService) -> None:
    assert ids(submit(service)) != ids(submit(service, tenant="other"))


# ---------------------------------------------------------------- Reading


@pytest.mark.parametrize(
    ("tenant", "job_id", "kind"),
    [(TENANT, "job_9", "crawl"), ("other", "job_1", "crawl"), (TENANT, "job_1", "audit")],
    ids=["unknown", "foreign", "of another kind"],
)
def test_an_unknown_a_foreign_and_another_kind_s_id_are_not_found_alike(
    service: JobService, tenant: str, job_id: str, kind: str
) -> None:
    submit(service)
    assert service.get(JobRef(tenant=TENANT, job_id="job_1"), "crawl").id == "job_1"
    with pytest.raises(NotFound, match=r"^no such job$"):
        service.get(JobRef(tenant=tenant, job_id=job_id), kind)

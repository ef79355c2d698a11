"""Submissions with an Idempotency-Key, and races between two requests."""

from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.models import Reply, RequestKey
from spinneret.jobs.ports import NewJob, SubmissionRaced
from spinneret.jobs.service import JobService, Submitted
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    DependencyUnavailable,
    IdempotencyMismatch,
    ValidationFailed,
)
from tests import factories
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.time import HandClock
from tests.unit.jobs.submissions import finish, ids, service_on, stored, submit

# ---------------------------------------------------------------- Idempotency keys


# covers P-05
def test_a_replay_repeats_the_first_answer_and_does_nothing_else(
    service: JobService, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    key = factories.request_key()
    first = submit(service, key=key)
    finish(store, ids(first)[0], clock, lambda job: rules.complete(job, {}, clock()))
    queue.take()
    clock.advance(bounds.IDEMPOTENCY_SECONDS - 1)
    replay = submit(service, key=key)
    assert (replay.reply, replay.replayed, first.replayed) == (first.reply, True, False)
    assert queue.sent == []


def test_a_key_with_another_payload_is_refused(service: JobService, queue: FakeJobQueue) -> None:
    submit(service, key=factories.request_key())
    queue.take()
    with pytest.raises(IdempotencyMismatch):
        submit(service, key=factories.request_key(payload="payload-2"))
    assert queue.sent == []


def test_a_key_is_free_again_after_a_day(service: JobService, clock: HandClock) -> None:
    first = submit(service, key=factories.request_key())
    clock.advance(bounds.IDEMPOTENCY_SECONDS)
    again = submit(
        service,
        factories.draft(duplicate_key="other-page"),
        key=factories.request_key(payload="payload-2"),
    )
    assert not again.replayed
    assert ids(again) != ids(first)


def test_a_key_belongs_to_its_tenant(service: JobService) -> None:
    submit(service, key=factories.request_key())
    key = factories.request_key(tenant="other", payload="payload-2")
    assert not submit(service, tenant="other", key=key).replayed


def test_a_key_makes_even_a_forced_crawl_happen_once(
    service: JobService, queue: FakeJobQueue
) -> None:
    forced, key = factories.draft(duplicate_key=None), factories.request_key()
    assert ids(submit(service, forced, key=key)) == ids(submit(service, forced, key=key))
    assert len(queue.take()) == 1


def test_an_answer_that_only_names_duplicates_is_repeated_too(service: JobService) -> None:
    submit(service)
    first = submit(service, key=factories.request_key())
    assert first.reply.body["duplicates"] == [True]
    assert submit(service, key=factories.request_key()).replayed


def test_a_job_knows_the_key_that_it_came_under(service: JobService, store: FakeJobStore) -> None:
    """P-05: the key is the header's, or else the implicit one."""
    named = ids(submit(service, key=factories.request_key(scope="order-1")))
    unnamed = ids(submit(service, factories.draft(duplicate_key="other-page")))
    forced = ids(submit(service, factories.draft(duplicate_key=None)))
    keys = [stored(store, job_id).idempotency_key for [job_id] in (named, unnamed, forced)]
    assert keys == ["order-1", "other-page", None]


def test_an_answer_that_no_row_can_hold_is_refused_only_under_a_key(
    service: JobService, queue: FakeJobQueue
) -> None:
    """Otherwise DynamoDB would reject it with a useless error, again at each retry."""
    large = Reply(status=202, body={"urls": ["\u4e2d" * 2048] * 100})

    def submitted(key: RequestKey | None) -> Submitted:
        return service.submit("acme", [factories.draft()], key, lambda _: large)

    with pytest.raises(ValidationFailed):
        submitted(factories.request_key())
    assert queue.sent == []
    assert submitted(None).reply == large


# ---------------------------------------------------------------- Races


class RacedStore(FakeJobStore):
    """A store in which another request wins the first `times` submissions."""

    def __init__(self, times: int, winner: JobService | None = None) -> None:
        super().__init__()
        self.times = times
        self.other: Any = winner

    def submit(self, *arguments: Any) -> None:
        if self.times:
            self.times -= 1
            if self.other:
                self.other()
            raise SubmissionRaced
        super().submit(*arguments)


def test_who_loses_a_race_for_a_page_answers_with_the_winner_s_job(
    queue: FakeJobQueue, clock: HandClock
) -> None:
    store = RacedStore(times=1)
    service = service_on(store, queue, clock)
    winner = factories.job(id="job_winner", duplicate_key="same-page")
    store.other = lambda: FakeJobStore.submit(
        store, [NewJob(job=winner)], [factories.event()], None, factories.reply(), clock()
    )
    submitted = submit(service)
    assert ids(submitted) == ["job_winner"]
    assert queue.sent == []


def test_who_loses_a_race_for_a_key_replays_the_winner_s_answer(
    queue: FakeJobQueue, clock: HandClock
) -> None:
    store = RacedStore(times=1)
    service = service_on(store, queue, clock)
    key, reply = factories.request_key(), factories.reply(job_id="job_winner")
    store.other = lambda: FakeJobStore.submit(store, [], [], key, reply, clock())
    submitted = submit(service, key=key)
    assert (submitted.reply, submitted.replayed) == (reply, True)


def test_endless_races_are_given_up(queue: FakeJobQueue, clock: HandClock) -> None:
    with pytest.raises(DependencyUnavailable):
        submit(service_on(RacedStore(times=10**6), queue, clock))
    assert queue.sent == []

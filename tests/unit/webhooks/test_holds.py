"""Targets that are left alone after silence and overload."""

from __future__ import annotations

from datetime import timedelta

import pytest

from spinneret.jobs.models import Job, JobStatus
from spinneret.kernel.errors import DomainError, FetchFailed, FetchTimeout
from spinneret.webhooks.models import DeliveryStatus, Hold
from tests.fakes.webhook_slice import WebhookSlice, answer

SILENT = FetchTimeout("receiver.example did not answer in time")


def delivery_of(hooks: WebhookSlice) -> Job:
    """The delivery of one more job that has ended."""
    hooks.finish()
    return hooks.deliveries()[-1]


def void(_: object) -> None:
    """For callbacks that answer nothing."""


@pytest.mark.parametrize(
    "given",
    [SILENT, FetchFailed("no address"), answer(429), answer(502), answer(503), answer(504)],
    ids=["silence", "no address", "429", "502", "503", "504"],
)
def test_after_silence_and_overload_other_deliveries_wait(
    hooks: WebhookSlice, given: DomainError
) -> None:
    endpoint, _ = hooks.endpoint()
    first, second = (delivery_of(hooks) for _ in range(2))
    hooks.receiver.answers = [given]
    hooks.run(first.ref)
    waiting = hooks.run(second.ref)
    assert (waiting.status, waiting.attempts) == (JobStatus.PENDING, 0)
    assert waiting.waiting_for == "receiver.example"
    assert waiting.due_at == hooks.clock() + timedelta(seconds=10)
    assert len(hooks.receiver.requests) == 1
    assert {line.next_attempt_at is None for line in hooks.lines(endpoint.id)} == {False}


@pytest.mark.parametrize("status", [500, 404, 200])
def test_any_answer_but_overload_ends_the_wait(hooks: WebhookSlice, status: int) -> None:
    endpoint, _ = hooks.endpoint()
    first, second = (delivery_of(hooks) for _ in range(2))
    hooks.receiver.answers = [SILENT, answer(status)]
    hooks.run(first.ref)
    hooks.clock.advance(10)
    hooks.run(second.ref)
    assert hooks.holds.find("acme", endpoint.id) is None


@pytest.mark.parametrize("status", [500, 404, 200])
def test_after_any_other_answer_they_do_not(hooks: WebhookSlice, status: int) -> None:
    hooks.endpoint()
    hooks.receiver.answers = [answer(status)]
    for job in [delivery_of(hooks), delivery_of(hooks)]:
        hooks.run(job.ref)
    assert len(hooks.receiver.requests) == 2


def test_one_delivery_at_a_time_tries_whether_the_target_is_back(hooks: WebhookSlice) -> None:
    hooks.endpoint()
    first, second, third = (delivery_of(hooks) for _ in range(3))
    hooks.receiver.answers = [SILENT, answer(200)]
    hooks.run(first.ref)
    hooks.clock.advance(10)
    hooks.receiver.on_request = lambda: void(hooks.run(third.ref))
    hooks.run(second.ref)
    waiting = hooks.job(third.ref)
    assert (waiting.status, len(hooks.receiver.requests)) == (JobStatus.PENDING, 2)
    hooks.receiver.on_request = lambda: None
    hooks.settle()
    assert {job.status for job in hooks.deliveries()} == {JobStatus.COMPLETED}


def test_a_target_that_stays_silent_is_asked_ever_more_rarely(hooks: WebhookSlice) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.receiver.answers = [SILENT]
    jobs = [delivery_of(hooks) for _ in range(8)]
    waits = []
    for job in jobs:
        hooks.run(job.ref)
        hold = hooks.holds.find("acme", endpoint.id)
        assert hold is not None
        waits.append((hold.until - hooks.clock()).total_seconds())
        hooks.clock.now = hold.until
    assert waits == [10, 20, 40, 80, 160, 300, 300, 300]


def test_a_targets_own_wish_is_kept_up_to_an_hour(hooks: WebhookSlice) -> None:
    endpoint, _ = hooks.endpoint()
    for wish_, wait in (("90", 90), ("86400", 3600)):
        hooks.holds.end("acme", endpoint.id)
        hooks.receiver.answers = [answer(429, retry_after=wish_)]
        hooks.run(delivery_of(hooks).ref)
        hold = hooks.holds.find("acme", endpoint.id)
        assert hold == Hold(failures=1, until=hooks.clock() + timedelta(seconds=wait))


def test_targets_do_not_wait_for_each_other(hooks: WebhookSlice) -> None:
    dead, _ = hooks.endpoint(url="https://dead.example/")
    alive, _ = hooks.endpoint(url="https://alive.example/")
    hooks.receiver.answers = [SILENT]
    hooks.finish()
    for job in hooks.deliveries():
        if job.domain == "dead.example":
            hooks.run(job.ref)
    hooks.receiver.answers = [answer(200)]
    for job in hooks.deliveries():
        hooks.run(job.ref)
    assert [line.status for line in hooks.lines(alive.id)] == [DeliveryStatus.DELIVERED]
    assert [line.status for line in hooks.lines(dead.id)] == [DeliveryStatus.PENDING]


def test_a_delivery_waits_a_day_for_its_target_and_no_longer(hooks: WebhookSlice) -> None:
    endpoint, _ = hooks.endpoint()
    job = delivery_of(hooks)
    hold = Hold(failures=9, until=hooks.clock() + timedelta(days=3))
    hooks.holds.put("acme", endpoint.id, hold)
    hooks.run(job.ref)
    hooks.clock.now = hold.until
    hooks.settle()
    ended = hooks.job(job.ref)
    assert (ended.status, hooks.receiver.requests) == (JobStatus.FAILED, [])
    assert ended.last_error is not None
    assert ended.last_error.message == "receiver.example was out of reach for too long"


def test_what_was_delivered_stays_so_when_its_hold_can_not_be_ended(hooks: WebhookSlice) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.holds.put("acme", endpoint.id, Hold(failures=1, until=hooks.clock()))
    hooks.receiver.on_request = lambda: setattr(hooks.holds, "available", False)
    job = delivery_of(hooks)
    assert hooks.run(job.ref).status is JobStatus.COMPLETED

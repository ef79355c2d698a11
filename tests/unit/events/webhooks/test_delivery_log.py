"""Entries of the delivery log."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from spinneret.events.webhooks.models import DeliveryStatus
from spinneret.jobs.models import Job
from tests.fakes.webhook_world import WebhookWorld, answer


def delivery(hooks: WebhookWorld) -> Job:
    """Complete a job and return its only delivery."""
    hooks.finish()
    [job] = hooks.deliveries()
    return job


def test_a_delivered_message_is_logged_with_its_answer(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.receiver.answers = [answer(202, "thanks, token=abcdefghijklmnop1234 " + "x" * 3000)]
    job = delivery(hooks)
    hooks.settle()
    [line] = hooks.lines(endpoint.id)
    assert (line.status, line.attempts, line.response_status) == (DeliveryStatus.DELIVERED, 1, 202)
    assert (line.delivery_job_id, line.error, line.next_attempt_at) == (job.id, None, None)
    assert line.delivered_at == hooks.clock()
    assert line.response_body is not None
    assert line.response_body.startswith("thanks")
    assert len(line.response_body) == 1000
    assert "abcdefghijklmnop1234" not in line.response_body
    result = hooks.job(job.ref).result
    assert result == {"status_code": 202, "delivery_id": line.id, "attempts": 1, "duration_ms": 1}


def test_the_log_shows_what_is_sent_about_which_job(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint()
    job = hooks.finish()
    hooks.settle()
    [line] = hooks.lines(endpoint.id)
    assert (line.job_id, line.job_type) == (job.id, "crawl")
    assert line.payload == json.loads(hooks.receiver.requests[0].body or b"")


@pytest.mark.parametrize(
    ("size", "kept", "truncated"), [(7000, {"result"}, None), (9000, set(), True)]
)
def test_the_log_leaves_a_large_result_out(
    hooks: WebhookWorld, size: int, kept: set[str], truncated: bool | None
) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.work = lambda _: {"text": "ü" * (size // 2)}
    job = hooks.finish()
    hooks.settle()
    data = hooks.lines(endpoint.id)[0].payload["data"]
    assert {"result"} & set(data) == kept
    assert (data["job_id"], data.get("truncated")) == (job.id, truncated)
    assert json.loads(hooks.receiver.requests[0].body or b"")["data"]["result"]


def test_the_log_says_when_the_last_attempt_began(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.receiver.answers = [answer(500), answer(200)]
    hooks.receiver.on_request = lambda: hooks.clock.advance(2)
    job = delivery(hooks)
    for attempt in (1, 2):
        hooks.clock.now = hooks.job(job.ref).due_at
        began = hooks.clock()
        hooks.run(job.ref)
        [line] = hooks.lines(endpoint.id)
        assert (line.last_attempt_at, line.attempts, line.max_attempts) == (began, attempt, 5)
        stamped = hooks.receiver.requests[-1].headers["webhook-timestamp"]
        assert stamped == str(int(began.timestamp()))


def test_the_log_says_when_the_next_attempt_comes(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.receiver.answers = [answer(500, "sorry"), answer(200)]
    job = hooks.run(delivery(hooks).ref)
    [line] = hooks.lines(endpoint.id)
    assert line.next_attempt_at == job.due_at == hooks.clock() + timedelta(seconds=5)
    assert (line.status, line.error) == (DeliveryStatus.PENDING, "receiver.example answered 500")
    hooks.settle()
    [line] = hooks.lines(endpoint.id)
    assert (line.status, line.attempts) == (DeliveryStatus.DELIVERED, 2)


def test_a_delivery_that_waits_for_its_target_still_shows_the_last_answer(
    hooks: WebhookWorld,
) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.receiver.answers = [answer(503, "busy"), answer(200)]
    job = hooks.run(delivery(hooks).ref)
    [answered] = hooks.lines(endpoint.id)
    hooks.clock.now = job.due_at
    hooks.run(job.ref)
    [waiting] = hooks.lines(endpoint.id)
    assert (len(hooks.receiver.requests), waiting.response_body) == (1, "busy")
    assert waiting == replace(answered, next_attempt_at=waiting.next_attempt_at)
    hooks.settle()
    [line] = hooks.lines(endpoint.id)
    assert (line.status, line.error, line.next_attempt_at) == (DeliveryStatus.DELIVERED, None, None)

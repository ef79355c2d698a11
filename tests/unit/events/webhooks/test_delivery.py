"""What becomes of one message: attempts, cooldowns, ends."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from spinneret.events.webhooks.models import DeliveryStatus
from spinneret.events.webhooks.signing import verify
from spinneret.events.webhooks.vault import DEFAULT
from spinneret.jobs.models import Job, JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.errors import DomainError, UrlBlocked
from tests.fakes.webhook_slice import WebhookSlice, answer, requested
from tests.fakes.webhooks import URL


def delivery(hooks: WebhookSlice, **given: object) -> Job:
    """The one delivery of a job that has just ended."""
    hooks.finish(**given)
    [job] = hooks.deliveries()
    return job


# ---------------------------------------------------------------- What is sent


def test_a_completed_job_is_delivered_signed(hooks: WebhookSlice) -> None:
    endpoint, secret = hooks.endpoint(headers={"X-Tag": "one"})
    crawl = hooks.finish()
    hooks.settle()
    [request] = hooks.receiver.requests
    assert (request.url, request.method) == (URL, "POST")
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["X-Tag"] == "one"
    assert request.body is not None
    [line] = hooks.lines(endpoint.id)
    assert verify(request.headers, request.body, [secret], hooks.clock()) == line.id
    assert json.loads(request.body) == {
        "type": "job.completed",
        "timestamp": "2026-01-02T12:00:00.000000Z",
        "data": {
            "job_id": crawl.id,
            "kind": "crawl",
            "run": 1,
            "status": "completed",
            "url": "https://site.example/page",
            "domain": "site.example",
            "result": {"title": "Silk"},
        },
    }


def test_an_attempt_has_its_bounds_and_follows_nothing(hooks: WebhookSlice) -> None:
    hooks.endpoint()
    hooks.finish()
    hooks.settle()
    [request] = hooks.receiver.requests
    assert not request.follow_redirects
    assert (request.total_seconds, request.excerpt_bytes) == (15.0, 4096)


def test_a_jobs_own_url_is_signed_with_the_default_secret(hooks: WebhookSlice) -> None:
    _, secret = hooks.service.rotate_default("acme")
    hooks.finish(webhook_url="https://own.example/hook?key=1")
    hooks.settle()
    [request] = hooks.receiver.requests
    assert request.url == "https://own.example/hook?key=1"
    assert verify(request.headers, request.body or b"", [secret], hooks.clock())
    [line] = hooks.lines(DEFAULT)
    assert (line.endpoint_id, line.status) == (None, DeliveryStatus.DELIVERED)
    assert line.url == "https://own.example/hook?key=1"


def test_the_secret_before_a_rotation_signs_for_a_day(hooks: WebhookSlice) -> None:
    endpoint, old = hooks.endpoint()
    _, new = hooks.service.rotate("acme", endpoint.id)
    for seconds, secrets in ((0, [old, new]), (bounds.WEBHOOK_OLD_SECRET_SECONDS, [new])):
        hooks.clock.advance(seconds)
        hooks.finish()
        hooks.settle()
        request = hooks.receiver.requests[-1]
        for secret in secrets:
            verify(request.headers, request.body or b"", [secret], hooks.clock())
        assert request.headers["webhook-signature"].count("v1,") == len(secrets)


def test_a_secret_that_was_copied_to_another_endpoint_signs_nothing(hooks: WebhookSlice) -> None:
    one, _ = hooks.endpoint()
    other, _ = hooks.endpoint()
    hooks.endpoints.replace(other, replace(other, secrets=one.secrets, version=2))
    hooks.service.remove("acme", one.id)
    hooks.finish()
    hooks.settle()
    [line] = hooks.lines(other.id)
    assert (line.status, line.attempts, hooks.receiver.requests) == (DeliveryStatus.FAILED, 0, [])


# ---------------------------------------------------------------- What an answer leads to


def test_a_delivered_message_is_logged_with_its_answer(hooks: WebhookSlice) -> None:
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


@pytest.mark.parametrize("given", [answer(500), answer(404), answer(302), answer(401)])
def test_a_refused_message_is_sent_five_times_with_growing_delays(
    hooks: WebhookSlice, given: DomainError
) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.receiver.answers = [given]
    job = delivery(hooks)
    moments = []
    hooks.receiver.on_request = lambda: moments.append(hooks.clock())
    hooks.settle()
    waits = [round((b - a).total_seconds()) for a, b in itertools.pairwise(moments)]
    assert waits == [5, 300, 1800, 7200]
    assert len(set(hooks.receiver.ids)) == 1
    ended = hooks.job(job.ref)
    assert (ended.status, ended.attempts, ended.redrives) == (JobStatus.FAILED, 5, 0)
    assert ended.last_error is not None
    assert ended.last_error.code == "WEBHOOK_FAILED"
    [line] = hooks.lines(endpoint.id)
    assert (line.status, line.attempts, line.next_attempt_at) == (DeliveryStatus.FAILED, 5, None)


def test_the_log_shows_what_is_sent_about_which_job(hooks: WebhookSlice) -> None:
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
    hooks: WebhookSlice, size: int, kept: set[str], truncated: bool | None
) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.work = lambda _: {"text": "ü" * (size // 2)}
    job = hooks.finish()
    hooks.settle()
    data = hooks.lines(endpoint.id)[0].payload["data"]
    assert {"result"} & set(data) == kept
    assert (data["job_id"], data.get("truncated")) == (job.id, truncated)
    assert json.loads(hooks.receiver.requests[0].body or b"")["data"]["result"]


def test_the_log_says_when_the_last_attempt_began(hooks: WebhookSlice) -> None:
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


def test_the_log_says_when_the_next_attempt_comes(hooks: WebhookSlice) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.receiver.answers = [answer(500, "sorry"), answer(200)]
    job = hooks.run(delivery(hooks).ref)
    [line] = hooks.lines(endpoint.id)
    assert line.next_attempt_at == job.due_at == hooks.clock() + timedelta(seconds=5)
    assert (line.status, line.error) == (DeliveryStatus.PENDING, "receiver.example answered 500")
    hooks.settle()
    [line] = hooks.lines(endpoint.id)
    assert (line.status, line.attempts) == (DeliveryStatus.DELIVERED, 2)


def test_an_endpoint_that_is_gone_is_disabled(hooks: WebhookSlice) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.receiver.answers = [answer(410)]
    job = delivery(hooks)
    hooks.settle()
    disabled = hooks.service.get("acme", endpoint.id)
    assert (disabled.is_active, disabled.disabled_reason) == (False, "410 Gone")
    ended = hooks.job(job.ref)
    assert (ended.status, ended.attempts) == (JobStatus.FAILED, 1)
    hooks.finish()
    assert len(hooks.deliveries()) == 1
    enabled = hooks.service.update("acme", endpoint.id, requested())
    assert (enabled.is_active, enabled.disabled_reason) == (True, None)


def test_a_message_is_redelivered_as_often_as_it_is_asked_for(hooks: WebhookSlice) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.finish()
    hooks.settle()
    for _ in range(2):
        [line] = hooks.lines(endpoint.id)
        submitted = hooks.service.redeliver("acme", endpoint.id, line.id, None)
        assert submitted.reply.body["message"] == "accepted"
        hooks.settle()
    assert len(hooks.deliveries()) == len(hooks.receiver.ids) == 3
    assert set(hooks.receiver.ids) == {line.id}


def test_an_endpoint_that_was_changed_meanwhile_is_not_disabled(hooks: WebhookSlice) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.receiver.answers = [answer(410)]
    hooks.receiver.on_request = lambda: void(hooks.service.update("acme", endpoint.id, requested()))
    hooks.finish()
    hooks.settle()
    assert hooks.service.get("acme", endpoint.id).is_active


@pytest.mark.parametrize("gone", ["removed", "inactive"])
def test_nothing_is_sent_to_an_endpoint_that_is_no_more(hooks: WebhookSlice, gone: str) -> None:
    endpoint, _ = hooks.endpoint()
    job = delivery(hooks)
    if gone == "removed":
        hooks.service.remove("acme", endpoint.id)
    else:
        hooks.service.update("acme", endpoint.id, requested(is_active=False))
    hooks.settle()
    ended = hooks.job(job.ref)
    assert (ended.status, ended.attempts, hooks.receiver.requests) == (JobStatus.FAILED, 1, [])


def test_an_address_that_must_not_be_reached_ends_the_delivery(hooks: WebhookSlice) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.receiver.answers = [UrlBlocked("receiver.example leads to an address of the inside")]
    job = delivery(hooks)
    hooks.settle()
    ended = hooks.job(job.ref)
    assert (ended.status, ended.attempts) == (JobStatus.FAILED, 1)
    [line] = hooks.lines(endpoint.id)
    assert (line.status, line.error) == (
        DeliveryStatus.FAILED,
        "receiver.example leads to an address of the inside",
    )


@pytest.mark.parametrize("part", ["endpoints", "log", "cooldowns", "sealer"])
def test_an_outage_of_our_own_is_waited_for_uncharged(hooks: WebhookSlice, part: str) -> None:
    endpoint, _ = hooks.endpoint()
    job = delivery(hooks)
    getattr(hooks, part).available = False
    after = hooks.run(job.ref)
    assert (after.status, after.attempts) == (JobStatus.PENDING, 0)
    getattr(hooks, part).available = True
    hooks.settle()
    [line] = hooks.lines(endpoint.id)
    assert line.status is DeliveryStatus.DELIVERED


def test_a_cancelled_delivery_writes_nothing_more(hooks: WebhookSlice) -> None:
    endpoint, _ = hooks.endpoint()
    job = delivery(hooks)

    def cancel() -> None:
        standing = hooks.job(job.ref)
        hooks.store.transition(
            standing, replace(standing, status=JobStatus.CANCELLED, fence=standing.fence + 1)
        )

    hooks.receiver.on_request = cancel
    hooks.run(job.ref)
    assert hooks.lines(endpoint.id) == ()
    assert hooks.job(job.ref).status is JobStatus.CANCELLED


def void(_: object) -> None:
    """For callbacks that answer nothing."""

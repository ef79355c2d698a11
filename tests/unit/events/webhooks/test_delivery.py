"""Delivery of one message: attempts, cooldowns and final states."""

import itertools
import json
from dataclasses import replace

import pytest

from spinneret.events.webhooks import limits
from spinneret.events.webhooks.models import DeliveryStatus
from spinneret.events.webhooks.signing import verify
from spinneret.events.webhooks.vault import DEFAULT
from spinneret.jobs.models import Job, JobStatus
from spinneret.kernel.errors import DomainError, UrlBlocked
from spinneret.outbox.models import DomainEvent
from tests.fakes.webhook_world import WebhookWorld, answer, requested
from tests.fakes.webhooks import URL


def delivery(hooks: WebhookWorld, **given: object) -> Job:
    """Complete a job and return its only delivery."""
    hooks.finish(**given)
    [job] = hooks.deliveries()
    return job


# ---------------------------------------------------------------- Sent messages


def end_event(job: Job) -> DomainEvent:
    """Return the event of a crawl's end, with the fields that identify it."""
    return DomainEvent(
        tenant=job.tenant,
        type="crawl.completed",
        subject=job.id,
        sequence=job.fence,
        occurred_at=job.created_at,
        data={},
    )


# covers P-10
def test_a_completed_job_is_delivered_signed(hooks: WebhookWorld) -> None:
    endpoint, secret = hooks.endpoint(headers={"X-Tag": "one"})
    crawl = hooks.finish()
    hooks.settle()
    [request] = hooks.receiver.requests
    assert (request.url.text, request.method) == (URL, "POST")
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
        "event_id": end_event(crawl).id,
        "sequence": crawl.fence,
    }


def test_an_attempt_has_its_bounds_and_follows_nothing(hooks: WebhookWorld) -> None:
    hooks.endpoint()
    hooks.finish()
    hooks.settle()
    [request] = hooks.receiver.requests
    assert not request.follow_redirects
    assert (request.total_seconds, request.excerpt_bytes) == (15.0, 4096)


def test_a_jobs_own_url_is_signed_with_the_default_secret(hooks: WebhookWorld) -> None:
    _, secret = hooks.service.rotate_default("acme")
    hooks.finish(webhook_url="https://own.example/hook?key=1")
    hooks.settle()
    [request] = hooks.receiver.requests
    assert request.url.text == "https://own.example/hook?key=1"
    assert verify(request.headers, request.body or b"", [secret], hooks.clock())
    [line] = hooks.lines(DEFAULT)
    assert (line.endpoint_id, line.status) == (None, DeliveryStatus.DELIVERED)
    assert line.url == "https://own.example/hook?key=1"


def test_the_secret_before_a_rotation_signs_for_a_day(hooks: WebhookWorld) -> None:
    endpoint, old = hooks.endpoint()
    _, new = hooks.service.rotate("acme", endpoint.id)
    for seconds, secrets in ((0, [old, new]), (limits.WEBHOOK_OLD_SECRET_SECONDS, [new])):
        hooks.clock.advance(seconds)
        hooks.finish()
        hooks.settle()
        request = hooks.receiver.requests[-1]
        for secret in secrets:
            verify(request.headers, request.body or b"", [secret], hooks.clock())
        assert request.headers["webhook-signature"].count("v1,") == len(secrets)


def test_a_secret_that_was_copied_to_another_endpoint_signs_nothing(hooks: WebhookWorld) -> None:
    one, _ = hooks.endpoint()
    other, _ = hooks.endpoint()
    hooks.endpoints.replace(other, replace(other, secrets=one.secrets, version=2))
    hooks.service.remove("acme", one.id)
    hooks.finish()
    hooks.settle()
    [line] = hooks.lines(other.id)
    assert (line.status, line.attempts, hooks.receiver.requests) == (DeliveryStatus.FAILED, 0, [])


# ---------------------------------------------------------------- Effects of a response


# covers P-10
@pytest.mark.parametrize("given", [answer(500), answer(404), answer(302), answer(401)])
def test_a_refused_message_is_sent_five_times_with_growing_delays(
    hooks: WebhookWorld, given: DomainError
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


def test_an_endpoint_that_is_gone_is_disabled(hooks: WebhookWorld) -> None:
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


def test_a_message_is_redelivered_as_often_as_it_is_asked_for(hooks: WebhookWorld) -> None:
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


def test_an_endpoint_that_was_changed_meanwhile_is_not_disabled(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.receiver.answers = [answer(410)]
    hooks.receiver.on_request = lambda: void(hooks.service.update("acme", endpoint.id, requested()))
    hooks.finish()
    hooks.settle()
    assert hooks.service.get("acme", endpoint.id).is_active


@pytest.mark.parametrize("gone", ["removed", "inactive"])
def test_nothing_is_sent_to_an_endpoint_that_is_no_more(hooks: WebhookWorld, gone: str) -> None:
    endpoint, _ = hooks.endpoint()
    job = delivery(hooks)
    if gone == "removed":
        hooks.service.remove("acme", endpoint.id)
    else:
        hooks.service.update("acme", endpoint.id, requested(is_active=False))
    hooks.settle()
    ended = hooks.job(job.ref)
    assert (ended.status, ended.attempts, hooks.receiver.requests) == (JobStatus.FAILED, 1, [])


def test_an_address_that_must_not_be_reached_ends_the_delivery(hooks: WebhookWorld) -> None:
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
def test_an_outage_of_our_own_is_waited_for_uncharged(hooks: WebhookWorld, part: str) -> None:
    endpoint, _ = hooks.endpoint()
    job = delivery(hooks)
    getattr(hooks, part).available = False
    after = hooks.run(job.ref)
    assert (after.status, after.attempts) == (JobStatus.PENDING, 0)
    getattr(hooks, part).available = True
    hooks.settle()
    [line] = hooks.lines(endpoint.id)
    assert line.status is DeliveryStatus.DELIVERED


def test_a_cancelled_delivery_writes_nothing_more(hooks: WebhookWorld) -> None:
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
    """Do nothing, as a callback."""

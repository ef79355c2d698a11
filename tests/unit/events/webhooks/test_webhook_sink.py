"""Deliveries for domain events: ends of jobs and events of other domains."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from spinneret.events.webhooks.models import WebhookEvent
from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobStatus
from spinneret.jobs.worker import Context
from spinneret.kernel import bounds
from spinneret.kernel.errors import DomainError, HttpRefused, PermanentError, UrlBlocked
from spinneret.outbox.models import DomainEvent
from spinneret.web.fetching.models import FetchedPage
from tests.fakes.time import START
from tests.fakes.webhook_world import WebhookWorld, answer, requested

OWN = "https://own.example/hook"


def failing(error: Exception) -> Callable[[Context], Mapping[str, Any]]:
    def handler(_: Context) -> Mapping[str, Any]:
        raise error

    return handler


def other_event() -> DomainEvent:
    """Return an event of another domain."""
    return DomainEvent(
        tenant="acme",
        type="target.down",
        subject="tgt_1",
        sequence=7,
        occurred_at=START,
        data={"url": "https://site.example/"},
    )


def reported(job: Job) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(job.payload["body"])
    return body


def test_a_failed_job_is_reported_with_its_error(hooks: WebhookWorld) -> None:
    hooks.endpoint()
    hooks.work = failing(HttpRefused("site.example answered 404", details={"status_code": 404}))
    hooks.finish()
    [delivery] = hooks.deliveries()
    body = reported(delivery)
    assert body["type"] == "job.failed"
    assert body["data"]["status"] == "failed"
    assert body["data"]["error"] == {
        "error": "site.example answered 404",
        "code": "HTTP_ERROR",
        "details": {"status_code": 404},
    }
    assert "result" not in body["data"]


def test_an_unexpected_error_shows_nothing_of_itself(hooks: WebhookWorld) -> None:
    hooks.endpoint()
    hooks.work = failing(RuntimeError("password=hunter2"))
    hooks.finish()
    assert "hunter2" not in hooks.deliveries()[0].payload["body"]


def test_every_active_endpoint_and_the_jobs_own_url_are_notified(hooks: WebhookWorld) -> None:
    hooks.service.rotate_default("acme")
    ids = [hooks.endpoint()[0].id for _ in range(2)]
    hooks.endpoint(is_active=False)
    hooks.finish(webhook_url="https://own.example/hook")
    targets = {(job.payload["endpoint_id"], job.payload["url"]) for job in hooks.deliveries()}
    assert targets == {(ids[0], None), (ids[1], None), (None, "https://own.example/hook")}
    assert {job.domain for job in hooks.deliveries()} == {"receiver.example", "own.example"}


@pytest.mark.parametrize("event", [WebhookEvent.JOB_COMPLETED, WebhookEvent.JOB_FAILED])
def test_an_endpoint_gets_the_events_it_asked_for(hooks: WebhookWorld, event: WebhookEvent) -> None:
    hooks.endpoint(events=frozenset({event}))
    hooks.finish()
    hooks.work = failing(PermanentError("no"))
    hooks.finish()
    assert [reported(job)["type"] for job in hooks.deliveries()] == [event]


NAMED: list[tuple[list[str], str | None]] = [
    (["job.completed"], "job.completed"),
    (["job.*"], "job.completed"),
    (["crawl.completed"], "crawl.completed"),
    (["crawl.*"], "crawl.completed"),
    (["*"], "crawl.completed"),
    (["*", "crawl.*", "crawl.completed", "job.completed"], "job.completed"),
    (["job.failed"], None),
    (["crawl.failed", "audit.*"], None),
]


@pytest.mark.parametrize(("patterns", "name"), NAMED, ids=str)
def test_an_endpoint_gets_an_end_once_under_the_name_that_it_asked_for(
    hooks: WebhookWorld, patterns: list[str], name: str | None
) -> None:
    hooks.endpoint(events=frozenset(patterns))
    hooks.finish()
    assert [reported(job)["type"] for job in hooks.deliveries()] == ([name] if name else [])


def test_an_event_that_is_no_end_has_a_form_of_its_own(hooks: WebhookWorld) -> None:
    hooks.endpoint(events=frozenset({"target.*"}))
    hooks.endpoint(events=frozenset({"job.*"}))
    event = other_event()
    hooks.sink.take(event)
    hooks.sink.take(event)
    [delivery] = hooks.deliveries()
    assert reported(delivery) == {
        "id": event.id,
        "type": "target.down",
        "created_at": "2026-01-02T12:00:00.000000Z",
        "sequence": 7,
        "data": {"url": "https://site.example/"},
    }
    hooks.settle()
    [line] = hooks.lines(delivery.payload["endpoint_id"])
    assert (line.event, line.job_id, line.status) == ("target.down", None, "delivered")


def test_a_subject_s_own_webhook_gets_whatever_its_endpoint_subscribes_to(
    hooks: WebhookWorld,
) -> None:
    endpoint, _ = hooks.endpoint(events=frozenset({"job.failed"}))
    hooks.sink.take(replace(other_event(), targets=(endpoint.id, OWN)))
    targets = [(job.payload["endpoint_id"], job.payload["url"]) for job in hooks.deliveries()]
    assert sorted(targets, key=str) == [(endpoint.id, None), (None, OWN)]


# covers P-10
def test_a_source_s_webhook_gets_what_names_it_and_what_it_subscribes_to(
    hooks: WebhookWorld,
) -> None:
    endpoint, _ = hooks.endpoint(events=frozenset({"target.down"}), source_id="source_1")
    hooks.sink.take(other_event())
    assert hooks.deliveries() == []
    hooks.sink.take(replace(other_event(), type="target.up", targets=(endpoint.id,)))
    assert hooks.deliveries() == []
    hooks.sink.take(replace(other_event(), targets=(endpoint.id,)))
    assert [job.payload["endpoint_id"] for job in hooks.deliveries()] == [endpoint.id]


def test_an_endpoint_that_comes_after_the_submission_is_notified(hooks: WebhookWorld) -> None:
    ref = hooks.submit()
    hooks.endpoint()
    hooks.run(ref)
    assert len(hooks.deliveries()) == 1


def test_a_stage_without_webhooks_submits_no_deliveries(hooks: WebhookWorld) -> None:
    hooks.endpoint()
    ref = hooks.submit()
    hooks.enabled = False
    hooks.run(ref)
    assert hooks.deliveries() == []


def test_another_tenants_endpoints_are_not_notified(hooks: WebhookWorld) -> None:
    hooks.endpoint("zebra")
    hooks.finish()
    assert hooks.deliveries() == []


def test_an_end_is_reported_once(hooks: WebhookWorld) -> None:
    hooks.endpoint()
    job = hooks.finish()
    hooks.relay.relay(job.tenant, job.id)
    hooks.sweep()
    assert len(hooks.deliveries()) == 1


def test_the_ends_of_deliveries_are_not_reported(hooks: WebhookWorld) -> None:
    hooks.endpoint()
    hooks.receiver.answers = [answer(410)]
    hooks.finish()
    hooks.settle()
    assert len(hooks.deliveries()) == 1


def test_the_sweeper_reports_what_an_outage_left_unreported(
    hooks: WebhookWorld,
) -> None:
    hooks.endpoint()
    ref = hooks.submit()
    hooks.endpoints.available = False
    job = hooks.run(ref)
    assert (job.status, hooks.deliveries()) == (JobStatus.COMPLETED, [])
    hooks.endpoints.available = True
    hooks.sweep()
    assert len(hooks.deliveries()) == 1


def test_a_fault_of_ours_does_not_reach_the_job(
    hooks: WebhookWorld, caplog: pytest.LogCaptureFixture
) -> None:
    hooks.endpoint()
    ref = hooks.submit()
    hooks.endpoints.page = None  # type: ignore[method-assign,assignment]  # a fault
    assert hooks.run(ref).status is JobStatus.COMPLETED
    assert "sink_failed" in caplog.text


@pytest.mark.parametrize("url", ["no url", "http://10.0.0.1/hook"])
def test_a_jobs_own_url_that_can_not_be_requested_is_named(hooks: WebhookWorld, url: str) -> None:
    hooks.service.rotate_default("acme")
    with pytest.raises(PermanentError) as refused:
        hooks.submit(webhook_url=url)
    assert [each["path"] for each in refused.value.details["fields"]] == ["webhook_url"]


# ---------------------------------------------------------------- One delivery per run and target


@pytest.mark.parametrize("given", [answer(410), answer(200), UrlBlocked("inside")])
def test_a_repeated_notification_adds_no_delivery_however_the_first_one_ended(
    hooks: WebhookWorld, given: FetchedPage | DomainError
) -> None:
    """A crash before the event is marked makes the relay submit both deliveries again."""
    hooks.service.rotate_default("acme")
    endpoint, _ = hooks.endpoint()
    hooks.listening = False
    job = hooks.run(hooks.submit(webhook_url=OWN))
    hooks.receiver.answers = [given]
    [pending] = hooks.store.outbox.rows.values()
    assert pending.event.subject == job.id
    for _ in range(2):
        hooks.sink.take(pending.event)
        hooks.settle()
        hooks.clock.advance(2 * bounds.RESULT_FRESH_SECONDS)
    assert len(hooks.deliveries()) == len(hooks.receiver.requests) == 2
    assert len(hooks.lines(endpoint.id)) == 1


def test_every_run_of_a_job_is_reported(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.work = failing(PermanentError("no"))
    failed = hooks.finish()
    hooks.settle()
    again = rules.retry(failed, hooks.clock())
    hooks.store.transition(hooks.job(failed.ref), again, [rules.status_event(again, hooks.clock())])
    hooks.run(failed.ref)
    hooks.settle()
    assert [reported(job)["data"]["run"] for job in hooks.deliveries()] == [1, 2]
    assert len(hooks.lines(endpoint.id)) == len(set(hooks.receiver.ids)) == 2


def test_the_ends_of_two_runs_that_nobody_handed_on_come_in_order(hooks: WebhookWorld) -> None:
    hooks.endpoint()
    hooks.listening = False
    hooks.work = failing(PermanentError("no"))
    failed = hooks.finish()
    again = rules.retry(failed, hooks.clock())
    hooks.store.transition(failed, again)
    hooks.run(failed.ref)
    hooks.sweep()
    assert [reported(job)["data"]["run"] for job in hooks.deliveries()] == [1, 2]


def test_an_endpoint_that_was_made_inactive_meanwhile_is_not_notified(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint()
    ref = hooks.submit()
    hooks.service.update("acme", endpoint.id, requested(is_active=False))
    hooks.run(ref)
    assert hooks.deliveries() == []


# ---------------------------------------------------------------- Size


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        ({"text": "x" * 60_000}, {"result"}),
        ({"text": "x" * 66_000}, {"truncated"}),
        ({"text": "x" * 180_000}, {"truncated"}),
        ({"text": "ü" * 40_000}, {"truncated"}),
    ],
)
def test_a_large_result_is_left_out(
    hooks: WebhookWorld, result: dict[str, Any], kept: set[str]
) -> None:
    hooks.endpoint()
    hooks.work = lambda _: result
    hooks.finish()
    [delivery] = hooks.deliveries()
    assert len(delivery.payload["body"].encode()) <= 64 * 1024
    assert kept == set(reported(delivery)["data"]) & {"result", "truncated"}

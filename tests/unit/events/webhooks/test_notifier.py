"""Reporting the ends of jobs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from spinneret.events.webhooks.models import WebhookEvent
from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobStatus
from spinneret.jobs.worker import Context
from spinneret.kernel import bounds
from spinneret.kernel.errors import DomainError, HttpRefused, PermanentError, UrlBlocked
from spinneret.web.fetching.models import FetchedPage
from tests import factories
from tests.fakes.webhook_slice import WebhookSlice, answer, requested

OWN = "https://own.example/hook"


def failing(error: Exception) -> Callable[[Context], Mapping[str, Any]]:
    def handler(_: Context) -> Mapping[str, Any]:
        raise error

    return handler


def reported(job: Job) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(job.payload["body"])
    return body


def test_a_failed_job_is_reported_with_its_error(hooks: WebhookSlice) -> None:
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


def test_an_unexpected_error_shows_nothing_of_itself(hooks: WebhookSlice) -> None:
    hooks.endpoint()
    hooks.work = failing(RuntimeError("password=hunter2"))
    hooks.finish()
    assert "hunter2" not in hooks.deliveries()[0].payload["body"]


def test_every_active_endpoint_and_the_jobs_own_url_are_notified(hooks: WebhookSlice) -> None:
    hooks.service.rotate_default("acme")
    ids = [hooks.endpoint()[0].id for _ in range(2)]
    hooks.endpoint(is_active=False)
    hooks.finish(webhook_url="https://own.example/hook")
    targets = {(job.payload["endpoint_id"], job.payload["url"]) for job in hooks.deliveries()}
    assert targets == {(ids[0], None), (ids[1], None), (None, "https://own.example/hook")}
    assert {job.domain for job in hooks.deliveries()} == {"receiver.example", "own.example"}


@pytest.mark.parametrize("event", [WebhookEvent.JOB_COMPLETED, WebhookEvent.JOB_FAILED])
def test_an_endpoint_gets_the_events_it_asked_for(hooks: WebhookSlice, event: WebhookEvent) -> None:
    hooks.endpoint(events=frozenset({event}))
    hooks.finish()
    hooks.work = failing(PermanentError("no"))
    hooks.finish()
    assert [reported(job)["type"] for job in hooks.deliveries()] == [event]


def test_an_endpoint_that_comes_after_the_submission_is_not_notified(hooks: WebhookSlice) -> None:
    ref = hooks.submit()
    hooks.endpoint()
    hooks.run(ref)
    assert hooks.deliveries() == []


def test_another_tenants_endpoints_are_not_notified(hooks: WebhookSlice) -> None:
    hooks.endpoint("zebra")
    hooks.finish()
    assert hooks.deliveries() == []


def test_an_end_is_reported_once(hooks: WebhookSlice) -> None:
    hooks.endpoint()
    job = hooks.finish()
    assert job.notified_run == 1
    hooks.notifier(job, ())
    hooks.sweep()
    assert len(hooks.deliveries()) == 1


def test_the_ends_of_deliveries_are_not_reported(hooks: WebhookSlice) -> None:
    hooks.endpoint()
    hooks.receiver.answers = [answer(410)]
    hooks.finish()
    hooks.settle()
    assert len(hooks.deliveries()) == 1


def test_a_cancelled_job_is_not_reported(hooks: WebhookSlice) -> None:
    hooks.endpoint()
    hooks.notifier(factories.job(status=JobStatus.CANCELLED, notify=("wh_0001",)), ())
    assert hooks.deliveries() == []


def test_the_sweeper_reports_what_an_outage_left_unreported(
    hooks: WebhookSlice,
) -> None:
    hooks.endpoint()
    ref = hooks.submit()
    hooks.endpoints.available = False
    job = hooks.run(ref)
    assert (job.status, job.notified_run, hooks.deliveries()) == (JobStatus.COMPLETED, 0, [])
    hooks.endpoints.available = True
    hooks.sweep()
    assert (hooks.job(ref).notified_run, len(hooks.deliveries())) == (1, 1)


def test_a_fault_of_ours_does_not_reach_the_job(
    hooks: WebhookSlice, caplog: pytest.LogCaptureFixture
) -> None:
    hooks.endpoint()
    ref = hooks.submit()
    hooks.endpoints.find = None  # type: ignore[method-assign,assignment]  # a fault
    assert hooks.run(ref).status is JobStatus.COMPLETED
    assert "notification_failed" in caplog.text


# ---------------------------------------------------------------- Once per run and target


def test_a_subscriber_that_vanishes_meanwhile_causes_no_second_delivery(
    hooks: WebhookSlice,
) -> None:
    """Its unsubscription changes the job's row between the end and the mark of the notification."""
    hooks.service.rotate_default("acme")
    ref = hooks.submit(webhook_url=OWN)
    hooks.store.subscribe(ref, 1)
    hooks.store.listeners.insert(
        0, lambda job, _: hooks.store.subscribe(ref, -job.watchers) if job.ref == ref else None
    )
    hooks.receiver.answers = [answer(410)]
    assert hooks.run(ref).notified_run == 1
    hooks.settle()
    hooks.sweep()
    hooks.settle()
    assert len(hooks.receiver.requests) == 1


def test_an_end_of_which_another_process_has_reported_is_left_alone(hooks: WebhookSlice) -> None:
    hooks.endpoint()
    hooks.listening = False
    job = hooks.run(hooks.submit())
    hooks.store.transition(job, rules.mark_notified(job))
    hooks.notifier(job, ())
    assert hooks.job(job.ref).notified_run == 1


@pytest.mark.parametrize("given", [answer(410), answer(200), UrlBlocked("inside")])
def test_a_repeated_notification_adds_no_delivery_however_the_first_one_ended(
    hooks: WebhookSlice, given: FetchedPage | DomainError
) -> None:
    """A crash between the submission of deliveries and the mark makes the sweeper repeat both."""
    hooks.service.rotate_default("acme")
    endpoint, _ = hooks.endpoint()
    hooks.listening = False
    job = hooks.run(hooks.submit(webhook_url=OWN))
    hooks.receiver.answers = [given]
    for _ in range(2):
        hooks.notifier(job, ())
        hooks.settle()
        hooks.clock.advance(2 * bounds.RESULT_FRESH_SECONDS)
    assert len(hooks.deliveries()) == len(hooks.receiver.requests) == 2
    assert len(hooks.lines(endpoint.id)) == 1


def test_every_run_of_a_job_is_reported(hooks: WebhookSlice) -> None:
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


def test_a_late_notification_of_a_run_does_not_stand_for_the_next_one(hooks: WebhookSlice) -> None:
    hooks.endpoint()
    hooks.listening = False
    hooks.work = failing(PermanentError("no"))
    failed = hooks.finish()
    again = rules.retry(failed, hooks.clock())
    hooks.store.transition(failed, again)
    hooks.run(failed.ref)
    hooks.notifier(failed, ())
    assert hooks.job(failed.ref).notified_run == 0
    hooks.sweep()
    assert hooks.job(failed.ref).notified_run == 2
    assert [reported(job)["data"]["run"] for job in hooks.deliveries()] == [1, 2]


def test_an_endpoint_that_was_made_inactive_meanwhile_is_not_notified(hooks: WebhookSlice) -> None:
    endpoint, _ = hooks.endpoint()
    ref = hooks.submit()
    hooks.service.update("acme", endpoint.id, requested(is_active=False))
    assert hooks.run(ref).notified_run == 1
    assert hooks.deliveries() == []


# ---------------------------------------------------------------- Size


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        ({"text": "x" * 60_000}, {"result"}),
        ({"text": "x" * 66_000}, {"truncated"}),
        ({"text": "ü" * 40_000}, {"truncated"}),
    ],
)
def test_a_large_result_is_left_out(
    hooks: WebhookSlice, result: dict[str, Any], kept: set[str]
) -> None:
    hooks.endpoint()
    hooks.work = lambda _: result
    hooks.finish()
    [delivery] = hooks.deliveries()
    assert len(delivery.payload["body"].encode()) <= 64 * 1024
    assert kept == set(reported(delivery)["data"]) & {"result", "truncated"}

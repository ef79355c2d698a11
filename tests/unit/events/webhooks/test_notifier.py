"""Reporting the ends of jobs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from spinneret.events.webhooks.models import DeliveryStatus, WebhookEvent
from spinneret.jobs.models import Job, JobStatus
from spinneret.jobs.worker import Context
from spinneret.kernel.errors import HttpRefused, PermanentError, UrlBlocked
from tests import factories
from tests.fakes.webhook_slice import WebhookSlice, answer


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
    hooks.endpoint(active=False)
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


def test_a_notification_that_is_repeated_is_the_same_message(hooks: WebhookSlice) -> None:
    """After its delivery has failed, and before the run was marked as reported."""
    endpoint, _ = hooks.endpoint()
    hooks.listening = False
    ref = hooks.submit()
    job = hooks.run(ref)
    hooks.listening = True
    hooks.receiver.answers = [UrlBlocked("inside"), answer(200)]
    for _ in range(2):
        hooks.notifier(job, ())
        hooks.settle()
    first, second = hooks.deliveries()
    assert (first.status, second.status) == (JobStatus.FAILED, JobStatus.COMPLETED)
    assert first.payload == second.payload
    assert len(set(hooks.receiver.ids)) == 1
    [line] = hooks.lines(endpoint.id)
    assert line.status is DeliveryStatus.DELIVERED


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

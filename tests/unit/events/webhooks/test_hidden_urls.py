"""Webhook URLs contain secrets: only those who may set them see them in full."""

import json
import logging
from typing import Any

import pytest

from spinneret.events.webhooks import api_models
from spinneret.events.webhooks.vault import DEFAULT
from spinneret.jobs.api_models import event_view, job_view
from spinneret.jobs.rules import TERMINAL
from spinneret.kernel.errors import FetchTimeout, UrlBlocked
from tests.fakes.webhook_world import WebhookWorld, answer

HUSH = "Qx7Rt2Wb9Kd4Ln6Mv3Zs8Yc5"
URLS = [
    (f"https://hooks.slack.com/services/T0123/B0123/{HUSH}", "https://hooks.slack.com/services/"),
    (f"https://receiver.example/hook?token={HUSH}&team=9", "https://receiver.example/hook?token="),
]
either = pytest.mark.parametrize(("url", "public"), URLS, ids=["path", "query"])


@either
def test_the_log_shows_a_url_without_its_secret(hooks: WebhookWorld, url: str, public: str) -> None:
    hooks.service.rotate_default("acme")
    endpoint, _ = hooks.endpoint(url=url)
    hooks.receiver.answers = [answer(500), answer(200)]
    hooks.finish(webhook_url=url)
    for settled in (False, True):
        if settled:
            hooks.settle()
        else:
            for job in hooks.deliveries():
                hooks.run(job.ref)
        for owner in (endpoint.id, DEFAULT):
            [line] = hooks.lines(owner)
            assert line.url is not None
            assert line.url.startswith(public)
            assert HUSH not in f"{line.url} {line.error}"
    assert {request.url.text for request in hooks.receiver.requests} == {url}


@either
def test_a_redelivery_goes_to_the_whole_url(hooks: WebhookWorld, url: str, public: str) -> None:
    hooks.service.rotate_default("acme")
    hooks.receiver.answers = [UrlBlocked("inside"), answer(200)]
    hooks.finish(webhook_url=url)
    hooks.settle()
    [line] = hooks.lines(DEFAULT)
    hooks.service.redeliver("acme", DEFAULT, line.id, None)
    hooks.settle()
    assert [request.url.text for request in hooks.receiver.requests] == [url, url]


@either
def test_an_endpoint_is_shown_whole_to_who_may_change_it(
    hooks: WebhookWorld, url: str, public: str
) -> None:
    endpoint, secret = hooks.endpoint(url=url)
    assert api_models.endpoint_view(endpoint, whole_url=True).url == url
    assert api_models.issued_endpoint(endpoint, secret).url == url
    page = hooks.service.page("acme", None, 5)
    assert api_models.endpoint_list(page, whole_url=True).items[0].url == url
    for shown in (
        api_models.endpoint_view(endpoint, whole_url=False),
        api_models.endpoint_list(page, whole_url=False).items[0],
    ):
        assert shown.url.startswith(public)
        assert HUSH not in shown.model_dump_json()


@either
def test_jobs_timelines_and_logs_show_nothing_of_it(
    hooks: WebhookWorld, caplog: pytest.LogCaptureFixture, url: str, public: str
) -> None:
    caplog.set_level(logging.DEBUG)
    hooks.service.rotate_default("acme")
    endpoint, _ = hooks.endpoint(url=url)
    hooks.receiver.answers = [
        FetchTimeout("no answer in time"), answer(410), answer(500), answer(429), answer(200)
    ]  # fmt: skip
    jobs = [hooks.finish(webhook_url=url) for _ in range(2)]
    jobs += hooks.deliveries()
    shown: list[Any] = [repr(endpoint)]
    waited_for: set[str | None] = set()
    while any(job.status not in TERMINAL for job in jobs):
        hooks.clock.advance(5)
        jobs = [hooks.job(job.ref) if job.kind == "crawl" else hooks.run(job.ref) for job in jobs]
        shown += [job_view(job).model_dump() for job in jobs]
        waited_for |= {job.waiting_for for job in jobs}
        shown += [hooks.lines(owner)[0].error for owner in (endpoint.id, DEFAULT)]
    for job in jobs:
        shown += [
            event_view(event).model_dump() for event in hooks.store.events(job.ref, None, 999)
        ]
    shown += [caplog.text, *(record.__dict__ for record in caplog.records)]
    assert len(waited_for) == 2
    assert len(shown) > 30
    assert HUSH not in str(shown)


def test_a_message_tells_the_crawled_urls_without_their_secrets(hooks: WebhookWorld) -> None:
    hooks.endpoint()
    site = f"https://site.example/page?access_token={HUSH}"
    hooks.work = lambda _: {
        "document_id": "doc_0123456789abcdef0123456789abcdef",
        "url": f"{site}&page=2",
        "redirects": [site],
        "title": "Silk",
        "version": "000001-0123456789ab",
        "tokens": 3,
    }
    hooks.finish(payload={"url": site})
    [delivery] = hooks.deliveries()
    assert HUSH not in delivery.payload["body"]
    data = json.loads(delivery.payload["body"])["data"]
    assert data["url"] == "https://site.example/page?access_token=[redacted]"
    assert data["result"] == {
        "document_id": "doc_0123456789abcdef0123456789abcdef",
        "url": "https://site.example/page?access_token=[redacted]&page=2",
        "redirects": ["https://site.example/page?access_token=[redacted]"],
        "title": "Silk",
        "version": "000001-0123456789ab",
        "tokens": 3,
    }


@pytest.mark.parametrize("payload", [{"topic": "silk"}, {"url": None}, {"url": 5}])
def test_a_job_about_no_url_is_told_without_one(
    hooks: WebhookWorld, payload: dict[str, Any]
) -> None:
    hooks.endpoint()
    hooks.finish(payload=payload)
    [delivery] = hooks.deliveries()
    assert "url" not in json.loads(delivery.payload["body"])["data"]

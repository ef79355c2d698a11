"""Ends of crawls that the deployed delivery worker reports to a receiver on this machine."""

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from spinneret.events.webhooks.signing import verify
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Hook, Website
from tests.waiting import waited

pytestmark = pytest.mark.stack

HOOKS = "/api/v1/webhooks"
SECONDS = 60.0


def webhook(tenant: Tenant, website: Website, **fields: Any) -> dict[str, Any]:
    """Create a webhook; `website.hooks` has its deliveries by the tenant's name."""
    url = f"{website.url}/hook?name={tenant.name}"
    response = tenant("POST", HOOKS, {"name": "ours", "url": url, **fields})
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made


def log(tenant: Tenant, webhook_id: str) -> list[dict[str, Any]]:
    response = tenant("GET", f"{HOOKS}/{webhook_id}/deliveries")
    assert response.status_code == 200, response.text
    items: list[dict[str, Any]] = response.json()["items"]
    return items


def came(website: Website, name: str, number: int = 1) -> list[Hook]:
    """Wait until `number` webhooks have come; return all."""
    return waited(
        lambda: list(website.hooks[name]), lambda hooks: len(hooks) >= number, seconds=SECONDS
    )


def logged(tenant: Tenant, webhook_id: str, status: str) -> dict[str, Any]:
    """Wait until the only delivery has this status; return it."""
    [line] = waited(
        lambda: log(tenant, webhook_id),
        lambda lines: [line["status"] for line in lines] == [status],
        seconds=SECONDS,
    )
    return line


# covers P-12
def test_one_trace_leads_from_the_request_to_the_webhook(
    tenant: Tenant, website: Website, deployed: Deployed
) -> None:
    began = round(time.time() * 1000)
    hook = webhook(tenant, website)
    job_id = tenant.crawl(f"{website.url}/page?text=traces")
    came(website, tenant.name)
    line = logged(tenant, hook["endpoint_id"], "delivered")
    request = {"path": "/api/v1/crawl", "tenant": tenant.name, "message": "request_done"}
    traces = [
        _traces(deployed, function, began, wanted)
        for function, wanted in (
            ("CrawlApi", request),
            ("CrawlWorker", {"message": "job_claimed", "job_id": job_id}),
            ("DeliveryWorker", {"message": "job_claimed", "job_id": line["delivery_job_id"]}),
        )
    ]
    assert len(traces[0]) == 1, "each request has a trace of its own"
    assert traces == [traces[0]] * 3


def _traces(deployed: Deployed, function: str, began: int, wanted: dict[str, str]) -> set[str]:
    """Wait for log lines of a function since `began` with these values; return their traces."""
    client, group = deployed.aws("logs"), f"/aws/lambda/{deployed.resources[function]}"

    def found() -> set[str]:
        pages = client.get_paginator("filter_log_events").paginate(
            logGroupName=group, startTime=began
        )
        messages = [event["message"] for page in pages for event in page["events"]]
        lines = [json.loads(text) for text in messages if text.startswith("{")]
        return {line["xray_trace_id"] for line in lines if wanted.items() <= line.items()}

    return waited(found, bool, seconds=SECONDS)


def test_a_completed_crawl_is_delivered_signed(tenant: Tenant, website: Website) -> None:
    hook = webhook(tenant, website, headers={"X-Tag": "silk"})
    job_id = tenant.crawl(f"{website.url}/page?text=webhooks")
    [seen] = came(website, tenant.name)
    message_id = verify(seen.headers, seen.body, [hook["secret"]], datetime.now(UTC))
    assert seen.headers["X-Tag"] == "silk"
    told = json.loads(seen.body)
    assert (told["type"], told["data"]["job_id"]) == ("job.completed", job_id)
    assert told["data"]["result"] == tenant.job(job_id)["result"]
    line = logged(tenant, hook["endpoint_id"], "delivered")
    assert (line["delivery_id"], line["attempts"]) == (message_id, 1)
    assert (line["response_status"], line["response_body"]) == (200, "taken")


def test_a_failed_crawl_is_delivered_too(tenant: Tenant, website: Website) -> None:
    webhook(tenant, website)
    tenant.crawl(f"{website.url}/status?code=404")
    [seen] = came(website, tenant.name)
    told = json.loads(seen.body)
    assert (told["type"], told["data"]["error"]["code"]) == ("job.failed", "HTTP_ERROR")


def test_a_crawls_own_url_is_told(admin: Tenant, website: Website) -> None:
    tenant = admin
    secret = tenant("POST", f"{HOOKS}/default-secret").json()["secret"]
    own = f"{website.url}/hook?name={tenant.name}"
    tenant.crawl(f"{website.url}/page?text=own", webhook_url=own)
    [seen] = came(website, tenant.name)
    verify(seen.headers, seen.body, [secret], datetime.now(UTC))
    assert logged(tenant, "default", "delivered")["url"] == own


def test_a_failing_receiver_is_asked_again_under_the_same_id(
    tenant: Tenant, website: Website
) -> None:
    hook = webhook(tenant, website)
    website.statuses[tenant.name] = [500]
    started = time.monotonic()
    assert tenant("POST", f"{HOOKS}/{hook['endpoint_id']}/test").status_code == 202
    first, second = came(website, tenant.name, 2)
    assert time.monotonic() - started > 4  # five seconds, less the jitter
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    line = logged(tenant, hook["endpoint_id"], "delivered")
    assert (line["attempts"], line["event"]) == (2, "webhook.test")


def test_a_receiver_that_is_gone_is_asked_no_more(tenant: Tenant, website: Website) -> None:
    hook = webhook(tenant, website)
    website.statuses[tenant.name] = [410]
    tenant("POST", f"{HOOKS}/{hook['endpoint_id']}/test")
    line = logged(tenant, hook["endpoint_id"], "failed")
    assert (line["response_status"], line["attempts"]) == (410, 1)
    view = waited(
        lambda: tenant("GET", f"{HOOKS}/{hook['endpoint_id']}").json(),
        lambda view: not view["is_active"],
        seconds=SECONDS,
    )
    assert view["disabled_reason"] == "410 Gone"
    tenant.finished(tenant.crawl(f"{website.url}/page?text=after"))
    assert len(log(tenant, hook["endpoint_id"])) == 1


# covers P-17
def test_a_channel_of_a_chat_gets_text_to_read(tenant: Tenant, website: Website) -> None:
    hook = webhook(tenant, website, kind="slack")
    assert tenant("POST", f"{HOOKS}/{hook['endpoint_id']}/test").status_code == 202
    [seen] = came(website, tenant.name)
    verify(seen.headers, seen.body, [hook["secret"]], datetime.now(UTC))
    assert json.loads(seen.body) == {"text": "Test: this channel receives events."}


def test_a_redelivery_repeats_id_and_body(tenant: Tenant, website: Website) -> None:
    hook = webhook(tenant, website)
    tenant.crawl(f"{website.url}/page?text=redelivery")
    line = logged(tenant, hook["endpoint_id"], "delivered")
    path = f"{HOOKS}/{hook['endpoint_id']}/deliveries/{line['delivery_id']}/redeliver"
    waited(lambda: tenant("POST", path).status_code, lambda status: status == 202, seconds=SECONDS)
    first, second = came(website, tenant.name, 2)
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == line["delivery_id"]


def test_an_address_of_the_inside_is_refused(tenant: Tenant) -> None:
    for url in ("http://127.0.0.1:1/", "http://169.254.169.254/latest/meta-data/"):
        response = tenant("POST", HOOKS, {"name": "inside", "url": url})
        assert (response.status_code, response.json()["code"]) == (403, "URL_BLOCKED")

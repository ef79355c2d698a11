"""The end of one crawl as a rule on the bus, a webhook and a WebSocket client receive it."""

import json
import time

import pytest

from tests.conftest import Aws
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.listening import SECONDS, bus_queue, pushed_events, received, subscribed
from tests.e2e.website import Website

pytestmark = pytest.mark.stack


def test_the_end_of_a_crawl_comes_once_to_bus_webhook_and_socket(
    deployed: Deployed, aws: Aws, tenant: Tenant, website: Website
) -> None:
    hook = {"name": "ours", "url": f"{website.url}/hook?name={tenant.name}", "events": ["crawl.*"]}
    assert tenant("POST", "/api/v1/webhooks", hook).status_code == 201
    website.hold()
    with bus_queue(deployed, aws, tenant) as queue:
        job_id = tenant.crawl(f"{website.url}/held?text=told")
        with subscribed(deployed, tenant, job_id) as socket:
            website.release()
            [on_bus] = received(aws, queue)
            [on_socket] = pushed_events(socket)
    deadline = time.monotonic() + SECONDS
    while not website.hooks[tenant.name] and time.monotonic() < deadline:
        time.sleep(0.1)
    [delivered] = website.hooks[tenant.name]
    by_webhook = json.loads(delivered.body)

    detail = on_bus["detail"]
    assert (on_bus["source"], on_bus["detail-type"]) == ("spinneret", "crawl.completed")
    assert (detail["tenant"], detail["subject"]) == (tenant.name, job_id)
    assert detail["data"]["result"] == tenant.job(job_id)["result"]
    assert on_socket == {
        name: detail[name] for name in ("id", "type", "sequence", "occurred_at", "data")
    }
    assert by_webhook == {
        "type": "crawl.completed",
        "timestamp": detail["occurred_at"],
        "data": detail["data"],
        "event_id": detail["id"],
        "sequence": detail["sequence"],
    }

"""A batch of crawls through the deployed API: exact counters and one end.

`SPINNERET_BATCH_PAGES` is the number of its URLs, and `SPINNERET_BATCH_KILLS` is how often its
workers are killed: 100 and 2 in `make prove`.
"""

import os
import time
from typing import Final

import pytest

from tests.conftest import Aws
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.listening import bus_queue, pushed_events, received, subscribed
from tests.e2e.test_outages import kill_workers
from tests.e2e.website import Website
from tests.waiting import waited

URLS: Final = int(os.environ.get("SPINNERET_BATCH_PAGES", "30"))
PAGES: Final = URLS - 1  # one URL is refused
KILLS: Final = int(os.environ.get("SPINNERET_BATCH_KILLS", "0"))
END_SECONDS: Final = 180.0 + 120.0 * KILLS  # a lost worker's lease, and the sweeper's minute
HOOK_SECONDS: Final = 30.0
FURTHER_SECONDS: Final = 2.0  # a delivery takes some tenths of a second

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300 + 2 * END_SECONDS)]


def counts(tenant: Tenant, batch_id: str) -> dict[str, int]:
    """Return the counters of a batch."""
    job = tenant.job(batch_id)
    return {name: job[name] for name in job if name.endswith("_count")}


def test_a_batch_counts_its_crawls_and_is_reported_once(
    admin: Tenant, deployed: Deployed, website: Website, aws: Aws
) -> None:
    tenant = admin
    with bus_queue(deployed, aws, tenant) as queue:
        batch_id = submitted(tenant, website)
        with subscribed(deployed, tenant, batch_id) as socket:
            worked_off(tenant, deployed, batch_id)
            [on_bus] = received(aws, queue)
            [on_socket] = pushed_events(socket)
    assert on_bus["detail-type"] == on_socket["type"] == "crawl_batch.partially_failed"
    assert on_bus["detail"]["id"] == on_socket["id"]
    delivered(website, tenant, 1)
    assert tenant("POST", f"/api/v1/jobs/{batch_id}/retry").status_code == 200
    tenant.wait(
        batch_id, lambda job: job["run"] == 2 and job["finished_at"] is not None, END_SECONDS
    )
    assert counts(tenant, batch_id)["completed_count"] == PAGES - 1
    assert website.requests[f"/gone-{tenant.name}"] == 2
    delivered(website, tenant, 2)  # one for each end


def delivered(website: Website, tenant: Tenant, number: int) -> None:
    """Assert that exactly `number` webhooks have come, even after FURTHER_SECONDS."""
    waited(lambda: len(website.hooks[tenant.name]) >= number, seconds=HOOK_SECONDS)
    time.sleep(FURTHER_SECONDS)
    assert len(website.hooks[tenant.name]) == number


def submitted(tenant: Tenant, website: Website) -> str:
    """Submit a batch with one missing page and one refused URL; return its id."""
    hook = f"{website.url}/hook?name={tenant.name}"
    assert tenant("POST", "/api/v1/webhooks/default-secret").status_code == 201
    urls = [f"{website.url}/page?text=batch+{n}+{tenant.name}" for n in range(PAGES)]
    missing = f"{website.url}/gone-{tenant.name}"
    body = {"urls": [*urls, "http://10.0.0.1/"], "webhook_url": hook}
    body["urls"][0] = missing
    key = {"Idempotency_Key": tenant.name}
    answer = tenant("POST", "/api/v1/crawl/batch", body, **key)
    assert answer.status_code == 202, answer.text
    batch = answer.json()
    assert (batch["total_submitted"], batch["failed_count"]) == (PAGES, 1)
    assert batch["jobs"][-1]["error"]["code"] == "URL_BLOCKED"
    assert tenant("POST", "/api/v1/crawl/batch", body, **key).json() == batch
    return str(batch["batch_id"])


def worked_off(tenant: Tenant, deployed: Deployed, batch_id: str) -> None:
    """Kill workers of the batch KILLS times, wait for its end, and check its exact counters."""
    for kill in range(KILLS):
        share = PAGES * (kill + 1) // (KILLS + 1)
        tenant.wait(batch_id, lambda job, share=share: job["completed_count"] >= share, 180)
        kill_workers(deployed.stack, deployed.resources["CrawlWorker"])
    ended = tenant.wait(batch_id, lambda job: job["finished_at"] is not None, END_SECONDS)
    assert counts(tenant, batch_id) == {
        "total_count": PAGES,
        "completed_count": PAGES - 1,
        "failed_count": 1,
        "cancelled_count": 0,
        "pending_count": 0,
    }
    assert (ended["status"], ended["progress"]) == ("partially_failed", 100)


def test_a_cancelled_batch_cancels_its_crawls(tenant: Tenant, website: Website) -> None:
    website.hold()
    urls = [f"{website.url}/held?text={tenant.name}+{n}" for n in range(12)]
    batch = tenant("POST", "/api/v1/crawl/batch", {"urls": urls, "priority": "low"}).json()
    assert website.arrived.wait(30)
    done = tenant("POST", f"/api/v1/crawl/{batch['batch_id']}/cancel")
    website.release()
    assert done.json()["status"] == "cancelled"
    ended = tenant.wait(batch["batch_id"], lambda job: job["pending_count"] == 0, 30)
    assert ended["cancelled_count"] == 12

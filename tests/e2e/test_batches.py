"""A batch of crawls through the deployed API: exact counters, one end."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website

pytestmark = pytest.mark.stack

PAGES = 30


def test_a_batch_counts_its_crawls_and_is_reported_once(
    deployed: Deployed, website: Website
) -> None:
    tenant = deployed.tenant("admin")
    hook = f"{website.url}/hook?name={tenant.name}"
    assert tenant("POST", "/api/v1/webhooks/default-secret").status_code == 201
    urls = [f"{website.url}/page?text=batch+{n}+{tenant.name}" for n in range(PAGES)]
    missing = f"{website.url}/gone-{tenant.name}"
    body = {"urls": [*urls, missing, "http://10.0.0.1/"], "webhook_url": hook}
    key = {"Idempotency_Key": tenant.name}
    answer = tenant("POST", "/api/v1/crawl/batch", body, **key)
    assert answer.status_code == 202, answer.text
    batch = answer.json()
    assert (batch["total_submitted"], batch["failed_count"]) == (PAGES + 1, 1)
    assert batch["jobs"][-1]["error"]["code"] == "URL_BLOCKED"
    assert tenant("POST", "/api/v1/crawl/batch", body, **key).json() == batch
    assert tenant.job(batch["jobs"][0]["job_id"])["status"] in ("pending", "running", "completed")
    ended = tenant.wait(batch["batch_id"], lambda job: job["finished_at"] is not None, 180)
    counts = {name: ended[name] for name in ended if name.endswith("_count")}
    assert counts == {
        "total_count": PAGES + 1,
        "completed_count": PAGES,
        "failed_count": 1,
        "cancelled_count": 0,
        "pending_count": 0,
    }
    assert (ended["status"], ended["progress"]) == ("partially_failed", 100)
    again = tenant("POST", f"/api/v1/crawl/{batch['batch_id']}/retry".replace("crawl", "jobs"))
    assert again.status_code == 200, again.text
    retried = tenant.wait(
        batch["batch_id"], lambda job: job["run"] == 2 and job["finished_at"] is not None, 60
    )
    assert (retried["completed_count"], retried["failed_count"]) == (PAGES, 1)
    assert website.requests[f"/gone-{tenant.name}"] == 2
    assert len(website.hooks[tenant.name]) >= 1


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

"""Deep crawls through the deployed API and its state machine."""

from typing import Any

import pytest

from tests.e2e.conftest import Deployed, Tenant
from tests.site.server import page_paths, serve

pytestmark = pytest.mark.stack


def deep(tenant: Tenant, url: str, **fields: Any) -> str:
    """Submit a deep crawl; return the job's id."""
    answer = tenant("POST", "/api/v1/crawl/deep", {"url": url, **fields})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["job_id"])


def test_a_deep_crawl_finds_the_whole_site_once(tenant: Tenant, deployed: Deployed) -> None:
    with serve(deployed.site_port) as base:
        job_id = deep(tenant, base, max_depth=10)
        ended = tenant.finished(job_id, 150)
    assert ended["status"] == "completed", ended
    pages = tenant("GET", f"/api/v1/crawl/{job_id}/pages?status=crawled&limit=100").json()["items"]
    crawled = sorted("/" + page["url"].split("/", 3)[3] for page in pages)
    assert crawled == sorted({path if path != "/index.html" else "/" for path in page_paths()})
    assert ended["pages_crawled"] == len(pages) == ended["pages_discovered"] - ended["pages_failed"]
    assert ended["end_reason"] == "exhausted"
    hits = tenant.search("dragline silk", limit=3)
    assert hits
    timeline = tenant("GET", f"/api/v1/jobs/{job_id}/timeline").json()["items"]
    assert any("batch 1" in event["message"] for event in timeline)


def test_the_budget_is_exact_and_a_cancelled_crawl_stops(
    tenant: Tenant, deployed: Deployed
) -> None:
    with serve(deployed.site_port) as base:
        ended = tenant.finished(deep(tenant, base, max_pages=5, max_depth=10), 90)
        assert (ended["pages_crawled"], ended["end_reason"]) == (5, "budget")
        job_id = deep(tenant, base, max_depth=9)
        tenant.wait(job_id, lambda job: job["pages_crawled"] > 0, 60)
        assert tenant("POST", f"/api/v1/crawl/{job_id}/cancel").status_code == 200
        stopped = tenant.finished(job_id, 30)
    assert stopped["status"] == "cancelled"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"max_pages": 0}, "max_pages"),
        ({"max_pages": 1001}, "max_pages"),
        ({"include": ["/a***"]}, "include.0"),
        ({"strategy": "random"}, "strategy"),
    ],
)
def test_a_field_out_of_range_is_named(tenant: Tenant, fields: Any, field: str) -> None:
    answer = tenant("POST", "/api/v1/crawl/deep", {"url": "https://example.com/", **fields})
    assert answer.status_code == 422
    assert answer.json()["details"]["fields"][0]["path"] == field

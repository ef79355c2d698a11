"""A tenant's own statistics through the deployed API."""

from urllib.parse import urlsplit

import pytest

from tests.e2e.conftest import Tenant
from tests.e2e.website import Website

pytestmark = pytest.mark.stack


# covers P-13
def test_a_tenant_sees_its_crawls_searches_and_hosts(tenant: Tenant, website: Website) -> None:
    for text in ("felsite", "obsidian"):
        tenant.finished(tenant.crawl(f"{website.url}/page?text={text}"))
    missing = tenant.finished(tenant.crawl(f"{website.url}/missing"))
    assert missing["status"] == "failed"
    tenant.search("obsidian")

    stats = tenant("GET", "/api/v1/stats").json()
    assert stats["complete"]
    sums = {
        name: sum(day[name] for day in stats["days"]) for name in stats["days"][0] if name != "day"
    }
    assert (sums["crawls_total"], sums["crawls_succeeded"], sums["crawls_failed"]) == (3, 2, 1)
    assert stats["durations"]["crawl_duration_ms"]["count"] == 2
    assert sums["searches_total"] <= 1  # 0 if another process still holds the count
    gauges = stats["gauges"]
    assert (gauges["jobs_running"], gauges["documents_total"]) == (0, 2)
    assert gauges["chunks_total"] >= 2

    [host] = tenant("GET", "/api/v1/stats/domains").json()["items"]
    assert host["domain"] == urlsplit(website.url).hostname
    assert (host["crawls_total"], host["crawls_failed"], host["circuit"]) == (3, 1, "closed")
    assert host["bytes_total"] > 0
    assert 0 < host["duration_ms_mean"] < 60_000
    again = tenant("GET", "/api/v1/stats/domains").json()["items"]
    assert again == [host]

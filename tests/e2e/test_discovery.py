"""Discovery through the deployed application: a site's sitemap and an index of captures."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website
from tests.site.server import page_paths, serve

pytestmark = pytest.mark.stack


@pytest.fixture
def site(deployed: Deployed) -> Iterator[str]:
    """Yield the base URL of the demonstration website."""
    with serve(deployed.site_port) as base:
        yield base.rstrip("/")


def discovered(tenant: Tenant, **fields: Any) -> dict[str, Any]:
    """Run a discovery to its end; return its body."""
    made = tenant("POST", "/api/v1/discover", fields)
    assert made.status_code == 202, made.text
    return tenant.ended(f"/api/v1/discover/{made.json()['job_id']}?limit=100", 60)


def test_the_pages_of_a_site_are_found_in_its_sitemap(tenant: Tenant, site: str) -> None:
    found = discovered(tenant, domain=site)
    assert found["status"] == "completed", found
    urls = {each["url"] for each in found["result"]}
    assert urls == {site + path for path in page_paths()}
    assert found["urls_found"] == len(page_paths())


def test_the_best_pages_come_first_and_the_others_not_at_all(tenant: Tenant, site: str) -> None:
    found = discovered(tenant, domain=site, score_query="silk", max_urls=5)
    scores = [each["score"] for each in found["result"]]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= 0.3
    assert all("silk" in each["url"] for each in found["result"])


@pytest.fixture
def captures(deployed: Deployed) -> Iterator[Website]:
    """Yield the website that serves the index of captures."""
    with Website(deployed.captures_port) as server:
        yield server


def test_common_crawl_is_asked_and_its_failure_fails_nothing(
    tenant: Tenant, site: str, captures: Website
) -> None:
    sources = ["sitemap", "common_crawl"]
    captures.captures = [f"{site}/only-captured"]
    found = discovered(tenant, domain=site, sources=sources)
    named = {each["url"]: each["sources"] for each in found["result"]}
    assert named[f"{site}/only-captured"] == ["common_crawl"]
    captures.captures = None
    found = discovered(tenant, domain=site, sources=sources)
    assert found["urls_found"] == len(page_paths())
    assert any("common_crawl" in note for note in found["notes"])

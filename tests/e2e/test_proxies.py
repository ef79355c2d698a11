"""Crawls through a tenant's proxy, by the deployed application."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.e2e.conftest import Tenant
from tests.e2e.website import Website

pytestmark = pytest.mark.stack

PASSWORD = "silk-and-thread"


@pytest.fixture
def proxy(website: Website) -> Iterator[Website]:
    """Yield the website as a proxy that requires a password."""
    website.tunnels.clear()
    website.proxy_password = PASSWORD
    yield website
    website.proxy_password = ""


def configured(tenant: Tenant, proxy: Website, password: str) -> str:
    server = {"url": proxy.url, "username": "spider", "password": password}
    made = tenant("POST", "/api/v1/proxies", {"name": uuid4().hex, "servers": [server]})
    assert made.status_code == 201, made.text
    assert password not in made.text
    return str(made.json()["proxy_id"])


def test_a_crawl_goes_by_the_proxy_that_it_names(tenant: Tenant, proxy: Website) -> None:
    proxy_id = configured(tenant, proxy, PASSWORD)
    target = proxy.url.removeprefix("http://")
    tried = tenant("POST", "/api/v1/proxies/test", {"proxy_id": proxy_id, "url": proxy.url + "/x"})
    assert tried.status_code == 200, tried.text
    proxy.tunnels.clear()
    job_id = tenant.crawl(f"{proxy.url}/page?text=tunnels", proxy_config_id=proxy_id)
    assert tenant.finished(job_id)["status"] == "completed"
    assert [tunnel.target for tunnel in proxy.tunnels] == [target]
    assert len(tenant.search("tunnels")) == 1


def test_a_crawl_whose_proxy_refuses_it_fails_and_says_why(tenant: Tenant, proxy: Website) -> None:
    proxy_id = configured(tenant, proxy, "wrong-" + PASSWORD)
    job_id = tenant.crawl(f"{proxy.url}/page?text=unpaid", proxy_config_id=proxy_id)
    job = tenant.wait(job_id, lambda job: job["attempts"] > 0, 60)
    assert job["status"] in {"pending", "failed"}
    assert len(proxy.tunnels) >= 1
    state = tenant("GET", f"/api/v1/proxies/{proxy_id}").json()
    assert state["servers"][0]["failures"] >= 1
    tenant("POST", f"/api/v1/crawl/{job_id}/cancel")


def test_a_proxy_of_another_tenant_is_as_unknown_as_any(tenant: Tenant, proxy: Website) -> None:
    for named in (uuid4().hex, "proxy_unknown"):
        body = {"url": f"{proxy.url}/page?text=x", "proxy_config_id": named}
        response = tenant("POST", "/api/v1/crawl", body)
        assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_ERROR")

"""The deployed application, and a tenant's view of it over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest

from spinneret.access.keys.api_models import KeyRequest
from spinneret.access.keys.bootstrap import issue
from spinneret.access.keys.models import Scope
from spinneret.kernel import bounds
from stack.deployment.settings import market_hosts
from stack.port_claims import claim
from tests.conftest import Aws, Stack
from tests.e2e.website import Website
from tests.site.server import page_paths, serve

CRAWL_TIMEOUT = 30
TERMINAL = {"completed", "failed", "cancelled"}


@dataclass(frozen=True)
class Deployed:
    """The application on the instance."""

    stack: Stack
    api_url: str
    outputs: dict[str, str]
    resources: dict[str, str]
    site_port: int
    website_port: int
    market_port: int
    trap_port: int
    """Its robots.txt, which is kept for a day, is its own."""
    settings: dict[str, str]
    """The environment that it was deployed with."""
    aws: Aws

    @property
    def ports(self) -> tuple[int, ...]:
        """Of the websites."""
        return self.site_port, self.website_port, self.trap_port

    def tenant(self, scope: str = "write") -> Tenant:
        """A fresh tenant with a key."""
        name = f"t-{uuid4().hex[:12]}"
        wanted = KeyRequest(
            name="tests",
            scopes=frozenset({Scope(scope)}),
            rate_limit_rpm=bounds.KEY_REQUESTS_PER_MINUTE_MAX,
        )
        table = self.outputs["TenancyTable"]
        return Tenant(name, self.api_url, issue(self.aws.dynamodb(), table, name, wanted))


class Tenant:
    """Calls the API with one tenant's key."""

    def __init__(self, name: str, api_url: str, key: str) -> None:
        self.name = name
        self.key = key
        self._client = httpx.Client(
            base_url=api_url, headers={"X-API-Key": key}, timeout=40, trust_env=False
        )

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """One request; underscores in header names stand for hyphens."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._client.request(method, path, json=body, headers=named)

    def crawl(self, url: str, **fields: Any) -> str:
        """Submit one URL; the job's id."""
        response = self("POST", "/api/v1/crawl", {"url": url, **fields})
        assert response.status_code == 202, response.text
        return str(response.json()["job_id"])

    def job(self, job_id: str) -> dict[str, Any]:
        """A crawl as it stands."""
        response = self("GET", f"/api/v1/crawl/{job_id}")
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def finished(self, job_id: str, seconds: float = 60) -> dict[str, Any]:
        """Wait for the end of a crawl."""
        return self.wait(job_id, lambda job: job["status"] in TERMINAL, seconds)

    def wait(
        self, job_id: str, reached: Callable[[dict[str, Any]], bool], seconds: float
    ) -> dict[str, Any]:
        """Wait until a crawl has reached a state."""
        deadline = time.monotonic() + seconds
        while not reached(job := self.job(job_id)):
            assert time.monotonic() < deadline, f"after {seconds} s: {job}"
            time.sleep(0.1)
        return job

    def audited(self, audit_id: str, seconds: float = 120) -> dict[str, Any]:
        """Wait for the end of an audit."""
        deadline = time.monotonic() + seconds
        while True:
            answer = self("GET", f"/audits/{audit_id}")
            assert answer.status_code == 200, answer.text
            audit: dict[str, Any] = answer.json()
            if audit["finished_at"] is not None:
                return audit
            assert time.monotonic() < deadline, f"after {seconds} s: {audit}"
            time.sleep(0.3)

    def search(self, query: str, **fields: Any) -> list[dict[str, Any]]:
        """The hits of a search."""
        response = self("POST", "/api/v1/search", {"query": query, **fields})
        assert response.status_code == 200, response.text
        hits: list[dict[str, Any]] = response.json()["results"]
        return hits

    def close(self) -> None:
        """End the connections."""
        self._client.close()


@pytest.fixture(scope="session")
def server_ports() -> Iterator[range]:
    """Ports of servers that start and stop with their tests, claimed to the end of the run."""
    with claim() as claimed:
        yield claimed.ports


@pytest.fixture(scope="session")
def deployed(prompt_indexes: Stack, aws: Aws, server_ports: range) -> Deployed:
    """The application, with four loopback servers that it may fetch from."""
    stack = prompt_indexes
    ports = site, website, market, trap = server_ports[:4]
    settings = {
        "FORCE": "1",  # an instance that is used again holds nothing that anybody keeps
        "SPINNERET_FETCH_ALLOWED": ",".join(f"127.0.0.1:{port}" for port in ports),
        "SPINNERET_MARKETPLACE_HOSTS": market_hosts(f"http://127.0.0.1:{market}"),
        "SPINNERET_CRAWL_TIMEOUT": str(CRAWL_TIMEOUT),
        "SPINNERET_RATE_LIMIT__DEFAULT_RPS": "200",
        "SPINNERET_DOMAIN_BURST": "200",
        "SPINNERET_ENABLE_PROXY_ROTATION": "true",
        "SPINNERET_ORDER_POLLING_ENABLED": "true",
        "SPINNERET_COMMON_CRAWL_URL": f"http://127.0.0.1:{website}/collinfo.json",
    }
    done = stack.command("deploy", **settings)
    if done.returncode != 0:
        pytest.fail(f"the application wasn't deployed:\n{done.stdout}{done.stderr}", pytrace=False)
    record = json.loads((stack.folder / "deployment.json").read_text())
    api_id = record["outputs"]["ApiId"]
    return Deployed(
        stack=stack,
        api_url=f"{stack.gateway_url}/_aws/execute-api/{api_id}/local",
        outputs=record["outputs"],
        resources=record["resources"],
        site_port=site,
        website_port=website,
        market_port=market,
        trap_port=trap,
        settings=settings,
        aws=aws,
    )


@pytest.fixture
def tenant(deployed: Deployed) -> Iterator[Tenant]:
    """A tenant of the test's own."""
    fresh = deployed.tenant()
    yield fresh
    fresh.close()


@pytest.fixture(autouse=True)
def rested_host(deployed: Deployed, aws: Aws) -> Iterator[None]:
    """All websites of these tests are one host, whose breaker must not outlive a test."""
    yield
    places = ["127.0.0.1", *(f"127.0.0.1:{port}" for port in deployed.ports)]
    for place in places:
        aws.dynamodb().delete_item(
            TableName=deployed.outputs["DomainsTable"], Key={"pk": f"DOMAIN#{place}", "sk": "PACE"}
        )


@pytest.fixture(scope="session")
def website(deployed: Deployed) -> Iterator[Website]:
    """A website that misbehaves on request."""
    with Website(deployed.website_port) as server:
        yield server


@pytest.fixture(scope="session")
def reader(deployed: Deployed) -> Iterator[Tenant]:
    """A tenant that has crawled the whole demonstration website."""
    tenant = deployed.tenant()
    with serve(deployed.site_port) as base:
        urls = [base.rstrip("/") + path for path in page_paths()]
        answer = tenant("POST", "/api/v1/crawl", {"urls": urls}).json()
        for each in answer["jobs"]:
            job = tenant.finished(each["job_id"], 120)
            assert job["status"] == "completed", job
    yield tenant
    tenant.close()

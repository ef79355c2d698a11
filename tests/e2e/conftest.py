"""The deployed application, and a tenant's view of it over HTTP."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import httpx
import pytest

from spinneret.access.keys.api_models import KeyRequest
from spinneret.access.keys.bootstrap import issue
from spinneret.access.keys.models import Scope
from spinneret.access.wiring import rotation_in
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable
from stack.deployment.settings import market_hosts
from stack.locks import exclusive
from stack.port_claims import SIZE, claim
from stack.run_with import PORTS_VARIABLE
from tests.conftest import ROOT, Aws, Stack, give_up
from tests.documented import Page
from tests.e2e.audited_site import AuditedSite
from tests.e2e.operations import Wire
from tests.e2e.website import Website
from tests.markets.ebay import KEYS as EBAY_KEYS
from tests.markets.etsy import KEYS as ETSY_KEYS
from tests.site.server import page_paths, serve
from tests.waiting import waited

CRAWL_TIMEOUT = 30
WEBSITES = 3
"""Ports of one process: a block has them for four, beside market and captures."""
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
    captures_port: int
    trap_port: int
    """Its robots.txt, which is kept for a day, is its own."""
    settings: dict[str, str]
    """The environment that it was deployed with."""
    aws: Aws

    @property
    def ports(self) -> tuple[int, ...]:
        """Of the websites."""
        return self.site_port, self.website_port, self.trap_port

    @contextmanager
    def only(self, shared: str) -> Iterator[None]:
        """Hold what the processes of these tests share, while the others wait."""
        path = self.stack.folder / f"{shared}.lock"
        with exclusive(path, on_wait=lambda: None, timeout=300):
            yield

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

    def read(self, path: str) -> dict[str, Any]:
        """The body of a GET that succeeds."""
        response = self("GET", path)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def crawl(self, url: str, **fields: Any) -> str:
        """Submit one URL; the job's id."""
        response = self("POST", "/api/v1/crawl", {"url": url, **fields})
        assert response.status_code == 202, response.text
        return str(response.json()["job_id"])

    def job(self, job_id: str) -> dict[str, Any]:
        """A crawl as it stands."""
        return self.read(f"/api/v1/crawl/{job_id}")

    def finished(self, job_id: str, seconds: float = 60) -> dict[str, Any]:
        """Wait for the end of a crawl."""
        return self.wait(job_id, lambda job: job["status"] in TERMINAL, seconds)

    def wait(
        self, job_id: str, reached: Callable[[dict[str, Any]], bool], seconds: float
    ) -> dict[str, Any]:
        """Wait until a crawl has reached a state."""
        return waited(lambda: self.job(job_id), reached, seconds=seconds)

    def audited(self, audit_id: str, seconds: float = 120) -> dict[str, Any]:
        """Wait for the end of an audit."""
        return self.ended(f"/audits/{audit_id}", seconds)

    def ended(self, path: str, seconds: float) -> dict[str, Any]:
        """Wait for the end of what a path shows; its body then."""
        return waited(
            lambda: self.read(path),
            lambda seen: seen["finished_at"] is not None,
            seconds=seconds,
            pause=0.3,
        )

    def search(self, query: str, **fields: Any) -> list[dict[str, Any]]:
        """The hits of a search."""
        response = self("POST", "/api/v1/search", {"query": query, **fields})
        assert response.status_code == 200, response.text
        hits: list[dict[str, Any]] = response.json()["results"]
        return hits

    def close(self) -> None:
        """End the connections."""
        self._client.close()


@dataclass(frozen=True)
class ServerPorts:
    """Ports of the tests' servers, of one claimed block.

    Several processes may test one instance: each has websites of its own, which never run at the
    same port. One market and one index of captures are all that a deployment can name.
    """

    block: range
    process: int = 0
    """Number of this process."""

    @property
    def all(self) -> list[str]:
        """The addresses that the application may fetch from."""
        return [f"127.0.0.1:{port}" for port in self.block]

    @property
    def websites(self) -> range:
        """The demonstration's, the misbehaving and the trap website of this process."""
        first = WEBSITES * self.process
        return self.block[first : first + WEBSITES]

    @property
    def market(self) -> int:
        """The marketplaces."""
        return self.block[-1]

    @property
    def captures(self) -> int:
        """Common Crawl's index."""
        return self.block[-2]


# They take the longest and begin first, so that no process works long after the others.
LONGEST: Final = (
    *("access_matrix", "tenant_isolation", "documented_commands", "publishing", "tenants"),
    *("console", "client", "monitoring", "jobs", "bad_input", "people", "sources"),
    *("crawl_and_search", "audits", "trap_site", "deep_crawls"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files by their time."""
    places = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


@pytest.fixture(scope="session")
def server_ports(worker_id: str) -> Iterator[ServerPorts]:
    """The block that the instance's owner has claimed, else one of this run."""
    if first := os.environ.get(PORTS_VARIABLE):
        block = range(int(first), int(first) + SIZE)
        yield ServerPorts(block, int(worker_id.removeprefix("gw")) if worker_id != "master" else 0)
        return
    with claim() as claimed:
        yield ServerPorts(claimed.ports)


@pytest.fixture(scope="session")
def deployed(
    stack: Stack, aws: Aws, server_ports: ServerPorts, pytestconfig: pytest.Config
) -> Deployed:
    """The application, which may fetch from the servers of the tests.

    The first of several processes deploys it, and the others find it deployed.
    """
    site, website, trap = server_ports.websites
    settings = {
        "FORCE": "1",  # an instance that is used again holds nothing that anybody keeps
        "BROWSER": "1",
        "SPINNERET_FETCH_ALLOWED": ",".join(server_ports.all),
        "SPINNERET_MARKETPLACE_HOSTS": market_hosts(f"http://127.0.0.1:{server_ports.market}"),
        "SPINNERET_CRAWL_TIMEOUT": str(CRAWL_TIMEOUT),
        "SPINNERET_RATE_LIMIT__DEFAULT_RPS": "200",
        "SPINNERET_DOMAIN_BURST": "200",
        "SPINNERET_ENABLE_PROXY_ROTATION": "true",
        "SPINNERET_ORDER_POLLING_ENABLED": "true",
        "SPINNERET_COMMON_CRAWL_URL": f"http://127.0.0.1:{server_ports.captures}/collinfo.json",
    }
    done = stack.command("deploy", **settings)
    if done.returncode != 0:
        give_up(pytestconfig, "the application wasn't deployed", done)
    record = json.loads((stack.folder / "deployment.json").read_text())
    # Before any test: functions keep the clients' secrets for a while.
    aws("secretsmanager").put_secret_value(
        SecretId=record["outputs"]["MarketplaceSecret"],
        SecretString=json.dumps({"ebay": EBAY_KEYS, "etsy": ETSY_KEYS}),
    )
    # Otherwise a rule creates the first signing key within five minutes.
    with suppress(DependencyUnavailable):  # another process of these tests was faster
        rotation_in(aws.dynamodb(), record["outputs"]["TenancyTable"], aws("kms"), "local").run()
    api_id = record["outputs"]["ApiId"]
    return Deployed(
        stack=stack,
        api_url=f"{stack.gateway_url}/_aws/execute-api/{api_id}/local",
        outputs=record["outputs"],
        resources=record["resources"],
        site_port=site,
        website_port=website,
        market_port=server_ports.market,
        captures_port=server_ports.captures,
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


@pytest.fixture
def admin(deployed: Deployed) -> Iterator[Tenant]:
    """A tenant of the test's own, with all scopes."""
    fresh = deployed.tenant("admin")
    yield fresh
    fresh.close()


@pytest.fixture(scope="module")
def stranger(deployed: Deployed) -> Iterator[Tenant]:
    """Administrates another tenant than the module's."""
    fresh = deployed.tenant("admin")
    yield fresh
    fresh.close()


@pytest.fixture(scope="module")
def wire(deployed: Deployed) -> Wire:
    """Requests to the deployed API as they are given."""
    return Wire(deployed.api_url)


@pytest.fixture
def site(deployed: Deployed, aws: Aws) -> Iterator[AuditedSite]:
    """The port of the demonstration's website, which nobody serves meanwhile."""
    with deployed.only("audited host"):
        with AuditedSite(deployed.site_port) as site:
            yield site
        key = {"pk": "DOMAIN#127.0.0.1", "sk": "SESSION"}
        aws.dynamodb().delete_item(TableName=deployed.outputs["DomainsTable"], Key=key)


@pytest.fixture
def page(deployed: Deployed, tmp_path: Path) -> Iterator[Page]:
    """Runs commands with the key of a fresh tenant, on the instance's own addresses."""
    tenant = deployed.tenant("admin")
    given = {
        "API": deployed.api_url,
        "KEY": tenant.key,
        "PATH": os.environ["PATH"],
        "NO_PROXY": "127.0.0.1",
    }
    made = Page(
        tmp_path,
        given,
        {
            "http://127.0.0.1:8484": deployed.stack.website_url,
            # The website of the process may be running.
            "127.0.0.1:8490": f"127.0.0.1:{deployed.trap_port}",
            ".venv/bin/": f"{ROOT}/.venv/bin/",
        },
    )
    yield made
    made.close()
    tenant.close()


@pytest.fixture(scope="session")
def dynamodb(aws: Aws) -> Any:
    """One client for what every test does: making one takes longer than most calls."""
    return aws.dynamodb()


@pytest.fixture(autouse=True)
def rested_host(deployed: Deployed, dynamodb: Any) -> Iterator[None]:
    """All websites of these tests are one host, whose breaker must not outlive a test."""
    yield
    places = ["127.0.0.1", *(f"127.0.0.1:{port}" for port in deployed.ports)]
    for place in places:
        dynamodb.delete_item(
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

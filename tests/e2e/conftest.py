"""The deployed application, and clients that call its API as a tenant."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
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
"""Number of websites of one process. A block has ports for four processes, the marketplaces and the
index of captures."""
TERMINAL = {"completed", "failed", "cancelled"}


@dataclass(frozen=True)
class Deployed:
    """The application, deployed on the instance."""

    stack: Stack
    api_url: str
    outputs: dict[str, str]
    resources: dict[str, str]
    site_port: int
    website_port: int
    market_port: int
    captures_port: int
    trap_port: int
    """Port of the trap website; no other website has it, because its robots.txt is cached for a
    day."""
    settings: dict[str, str]
    """Environment variables of the deployment."""
    aws: Aws

    @property
    def ports(self) -> tuple[int, ...]:
        """Return the ports of the websites."""
        return self.site_port, self.website_port, self.trap_port

    @contextmanager
    def only(self, shared: str) -> Iterator[None]:
        """Hold the lock of something that the processes of these tests share."""
        path = self.stack.folder / f"{shared}.lock"
        with exclusive(path, on_wait=lambda: None, timeout=300):
            yield

    def audited_host(self) -> AbstractContextManager[None]:
        """Hold the host of all audited websites: it allows one audit at a time."""
        return self.only("audited host")

    def tenant(self, scope: str = "write") -> Tenant:
        """Create a tenant with a key of this scope."""
        name = f"t-{uuid4().hex[:12]}"
        wanted = KeyRequest(
            name="tests",
            scopes=frozenset({Scope(scope)}),
            rate_limit_rpm=bounds.KEY_REQUESTS_PER_MINUTE_MAX,
        )
        table = self.outputs["TenancyTable"]
        return Tenant(name, self.api_url, issue(self.aws.dynamodb(), table, name, wanted))


class Tenant:
    """Client that calls the API with one tenant's key."""

    def __init__(self, name: str, api_url: str, key: str) -> None:
        self.name = name
        self.key = key
        self._client = httpx.Client(
            base_url=api_url, headers={"X-API-Key": key}, timeout=40, trust_env=False
        )

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """Send one request; underscores in header names become hyphens."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._client.request(method, path, json=body, headers=named)

    def read(self, path: str) -> dict[str, Any]:
        """Return the body of a GET, which must succeed."""
        response = self("GET", path)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def crawl(self, url: str, **fields: Any) -> str:
        """Submit one URL; return the job's id."""
        response = self("POST", "/api/v1/crawl", {"url": url, **fields})
        assert response.status_code == 202, response.text
        return str(response.json()["job_id"])

    def job(self, job_id: str) -> dict[str, Any]:
        """Return a crawl's job."""
        return self.read(f"/api/v1/crawl/{job_id}")

    def finished(self, job_id: str, seconds: float = 60) -> dict[str, Any]:
        """Wait for the end of a crawl; return its job."""
        return self.wait(job_id, lambda job: job["status"] in TERMINAL, seconds)

    def wait(
        self, job_id: str, reached: Callable[[dict[str, Any]], bool], seconds: float
    ) -> dict[str, Any]:
        """Wait until a crawl has reached a state; return its job."""
        return waited(lambda: self.job(job_id), reached, seconds=seconds)

    def audited(self, audit_id: str, seconds: float = 120) -> dict[str, Any]:
        """Wait for the end of an audit; return its body."""
        return self.ended(f"/audits/{audit_id}", seconds)

    def ended(self, path: str, seconds: float) -> dict[str, Any]:
        """Wait until the object at a path has finished; return its body."""
        return waited(
            lambda: self.read(path),
            lambda seen: seen["finished_at"] is not None,
            seconds=seconds,
            pause=0.3,
        )

    def search(self, query: str, **fields: Any) -> list[dict[str, Any]]:
        """Return the hits of a search."""
        response = self("POST", "/api/v1/search", {"query": query, **fields})
        assert response.status_code == 200, response.text
        hits: list[dict[str, Any]] = response.json()["results"]
        return hits

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


@dataclass(frozen=True)
class ServerPorts:
    """Ports of the tests' servers, from one claimed block.

    Several processes may test one instance. Each has its own websites, which never share a port. A
    deployment can name only one server of marketplaces and one index of captures.
    """

    block: range
    process: int = 0
    """Number of this process."""

    @property
    def all(self) -> list[str]:
        """Return the addresses from which the application may fetch."""
        return [f"127.0.0.1:{port}" for port in self.block]

    @property
    def websites(self) -> range:
        """Return this process's ports: the demonstration, the misbehaving and the trap website."""
        first = WEBSITES * self.process
        return self.block[first : first + WEBSITES]

    @property
    def market(self) -> int:
        """Return the port of the marketplaces."""
        return self.block[-1]

    @property
    def captures(self) -> int:
        """Return the port of Common Crawl's index."""
        return self.block[-2]


# These take the longest and start first, so that no process works long after the others.
LONGEST: Final = (
    *("access_matrix", "tenant_isolation", "documented_commands", "publishing", "tenants"),
    *("console", "client", "monitoring", "jobs", "bad_input", "people", "sources"),
    *("crawl_and_search", "audits", "trap_site", "deep_crawls"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files by their duration, the longest first."""
    places = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


@pytest.fixture(scope="session")
def server_ports(worker_id: str) -> Iterator[ServerPorts]:
    """Yield the block that the instance's owner has claimed, or else a new block of this run."""
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
    """Provide the application, which may fetch from the servers of the tests.

    The first of several processes deploys it, and the others use this deployment.
    """
    site, website, trap = server_ports.websites
    settings = {
        "FORCE": "1",  # a reused instance has no data that anybody needs
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
    # This precedes all tests, because functions cache the clients' secrets for a while.
    aws("secretsmanager").put_secret_value(
        SecretId=record["outputs"]["MarketplaceSecret"],
        SecretString=json.dumps({"ebay": EBAY_KEYS, "etsy": ETSY_KEYS}),
    )
    # Without this, a rule would create the first signing key within five minutes.
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
    """Yield a new tenant for one test."""
    fresh = deployed.tenant()
    yield fresh
    fresh.close()


@pytest.fixture
def admin(deployed: Deployed) -> Iterator[Tenant]:
    """Yield a new tenant for one test, with a key of all scopes."""
    fresh = deployed.tenant("admin")
    yield fresh
    fresh.close()


@pytest.fixture(scope="module")
def stranger(deployed: Deployed) -> Iterator[Tenant]:
    """Yield a tenant with an admin key; it isn't the tenant of the module."""
    fresh = deployed.tenant("admin")
    yield fresh
    fresh.close()


@pytest.fixture(scope="module")
def wire(deployed: Deployed) -> Wire:
    """Provide a client that sends requests to the deployed API exactly as given."""
    return Wire(deployed.api_url)


@pytest.fixture
def site(deployed: Deployed, aws: Aws) -> Iterator[AuditedSite]:
    """Yield the audited site on the demonstration's port, which no other server uses meanwhile."""
    with deployed.audited_host():
        with AuditedSite(deployed.site_port) as site:
            yield site
        key = {"pk": "DOMAIN#127.0.0.1", "sk": "SESSION"}
        aws.dynamodb().delete_item(TableName=deployed.outputs["DomainsTable"], Key=key)


@pytest.fixture
def page(deployed: Deployed, tmp_path: Path) -> Iterator[Page]:
    """Yield a page that runs commands with the key of a new tenant, on the instance's addresses."""
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
            # The process's own website may be running, so the trap's port is used.
            "127.0.0.1:8490": f"127.0.0.1:{deployed.trap_port}",
            ".venv/bin/": f"{ROOT}/.venv/bin/",
        },
    )
    yield made
    made.close()
    tenant.close()


@pytest.fixture(scope="session")
def dynamodb(aws: Aws) -> Any:
    """Provide one client for all tests: creating one takes longer than most calls."""
    return aws.dynamodb()


@pytest.fixture(autouse=True)
def rested_host(deployed: Deployed, dynamodb: Any) -> Iterator[None]:
    """Reset the hosts after each test: all websites share one, whose breaker may be open."""
    yield
    places = ["127.0.0.1", *(f"127.0.0.1:{port}" for port in deployed.ports)]
    for place in places:
        dynamodb.delete_item(
            TableName=deployed.outputs["DomainsTable"], Key={"pk": f"DOMAIN#{place}", "sk": "PACE"}
        )


@pytest.fixture(scope="session")
def website(deployed: Deployed) -> Iterator[Website]:
    """Yield a website that misbehaves on request."""
    with Website(deployed.website_port) as server:
        yield server


@pytest.fixture(scope="session")
def reader(deployed: Deployed) -> Iterator[Tenant]:
    """Yield a tenant that has crawled the whole demonstration website."""
    tenant = deployed.tenant()
    with serve(deployed.site_port) as base:
        urls = [base.rstrip("/") + path for path in page_paths()]
        answer = tenant("POST", "/api/v1/crawl", {"urls": urls}).json()
        for each in answer["jobs"]:
            job = tenant.finished(each["job_id"], 120)
            assert job["status"] == "completed", job
    yield tenant
    tenant.close()

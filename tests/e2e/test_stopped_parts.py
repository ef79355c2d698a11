"""Parts that hang instead of crashing, by SIGSTOP, during crawls: shorter and longer than a lease.

`SPINNERET_OUTAGE_SECONDS` is the duration: 10 by default; 90, longer than a lease, in `make prove`.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final
from uuid import uuid4

import pytest

from spinneret.kernel import bounds
from tests.conftest import Stack
from tests.e2e.conftest import CRAWL_TIMEOUT, Tenant
from tests.e2e.stopping import stopped
from tests.e2e.website import Website

OUTAGE: Final = float(os.environ.get("SPINNERET_OUTAGE_SECONDS", "10"))
LEASE: Final = CRAWL_TIMEOUT + bounds.LEASE_MARGIN_SECONDS
CRAWLS: Final = 10
REST: Final = 180.0
"""Time in which the crawls must end after an outage; a wait for one of our parts lasts up to a
minute."""

pytestmark = [pytest.mark.stack, pytest.mark.alone, pytest.mark.timeout(OUTAGE + REST + 60)]


def test_crawls_wait_for_an_embedder_that_hangs_and_searches_do_without_it(
    tenant: Tenant, website: Website, stack: Stack
) -> None:
    word = f"w{uuid4().hex[:8]}"
    tenant.finished(tenant.crawl(f"{website.url}/page?text=known+{word}"))
    assert tenant.search(f"known {word}")  # starts the function before it is measured
    with stopped(stack, "embedder"):
        jobs = crawls_of(tenant, website, "page")
        began = time.monotonic()
        answer = tenant("POST", "/api/v1/search", {"query": word})
        assert time.monotonic() - began < bounds.SEARCH_SECONDS
        assert answer.status_code == 200, answer.text
        assert answer.json()["degraded"]
        assert answer.json()["results"]
        pass_outage(began)
    all_complete(tenant, website, jobs)


def test_crawls_wait_for_an_index_that_hangs_and_searches_say_so(
    tenant: Tenant, website: Website, stack: Stack
) -> None:
    with stopped(stack, "opensearch"):
        jobs = crawls_of(tenant, website, "page")
        began = time.monotonic()
        unavailable(tenant, "opensearch")
        pass_outage(began)
    all_complete(tenant, website, jobs)


def test_crawls_survive_tables_that_hang(tenant: Tenant, website: Website, stack: Stack) -> None:
    """A worker that can't write until its lease ends counts as lost: only this costs an attempt."""
    website.hold()
    jobs = crawls_of(tenant, website, "held")
    assert website.arrived.wait(30), "no worker came"
    # All claims precede the outage: one stored after its worker gave up would last for a lease.
    pass_claims(website)
    with stopped(stack, "dynamodb"):
        began = time.monotonic()
        website.release()
        unavailable(tenant, "dynamodb")
        pass_outage(began)
    all_complete(tenant, website, jobs, charged=1 if OUTAGE > LEASE else 0)


def crawls_of(tenant: Tenant, website: Website, kind: str) -> dict[str, str]:
    """Submit crawls of new pages; return the path and query of each job id.

    All are submitted at once, so that a held page answers before its fetch times out.
    """
    paths = [f"/{kind}?text=hung+{uuid4().hex[:8]}" for _ in range(CRAWLS)]
    with ThreadPoolExecutor(CRAWLS) as threads:
        jobs = threads.map(lambda path: tenant.crawl(f"{website.url}{path}"), paths)
        return dict(zip(jobs, paths, strict=True))


def pass_claims(website: Website) -> None:
    """Wait until no further worker claims a crawl and requests its page."""
    requests = 0
    while website.requests["/held"] > requests:
        requests = website.requests["/held"]
        time.sleep(1)


def pass_outage(began: float) -> None:
    """Wait for the rest of the outage, which began at `began`."""
    time.sleep(max(0.0, began + OUTAGE - time.monotonic()))


def all_complete(tenant: Tenant, website: Website, jobs: dict[str, str], charged: int = 0) -> None:
    """Assert that all crawls complete, each with one request and at most `charged` attempts."""
    ended = {job_id: tenant.finished(job_id, REST) for job_id in jobs}
    assert {job["status"] for job in ended.values()} == {"completed"}
    assert max(job["attempts"] for job in ended.values()) <= charged
    assert {path: website.pages[path] for path in jobs.values()} == dict.fromkeys(jobs.values(), 1)


def unavailable(tenant: Tenant, dependency: str) -> None:
    """Assert that a search fails with our own error body, before the gateway's time-out."""
    answer = tenant("POST", "/api/v1/search", {"query": "anything"})
    assert answer.status_code == 503, answer.text
    body: dict[str, Any] = answer.json()
    assert set(body) == {"error", "code", "details", "request_id"}
    assert (body["code"], body["details"]) == ("DEPENDENCY_UNAVAILABLE", {"dependency": dependency})

"""Parts that hang instead of dying: SIGSTOP, while crawls run, for less and for more than a lease.

`SPINNERET_OUTAGE_SECONDS` says for how long: 10, and 90, more than a lease, in `make prove`.
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
from tests.waiting import waited

OUTAGE: Final = float(os.environ.get("SPINNERET_OUTAGE_SECONDS", "10"))
LEASE: Final = CRAWL_TIMEOUT + bounds.LEASE_MARGIN_SECONDS
CRAWLS: Final = 10
WORKERS: Final = 4  # of the lane
REST: Final = 180.0
"""For the crawls to end in: waits for a part of ours reach a minute."""

pytestmark = [pytest.mark.stack, pytest.mark.alone, pytest.mark.timeout(OUTAGE + REST + 60)]


def test_crawls_wait_for_an_embedder_that_hangs_and_searches_do_without_it(
    tenant: Tenant, website: Website, stack: Stack
) -> None:
    word = f"w{uuid4().hex[:8]}"
    tenant.finished(tenant.crawl(f"{website.url}/page?text=known+{word}"))
    assert tenant.search(f"known {word}")  # the function's start isn't what is measured
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
    """A worker whose lease ends while it can't write anything counts as lost: the only charge."""
    website.hold()
    jobs = crawls_of(tenant, website, "held")
    # A claim that the tables take after its worker gave up would last for a lease.
    waited(lambda: website.requests["/held"] == WORKERS, seconds=30)
    with stopped(stack, "dynamodb"):
        began = time.monotonic()
        website.release()
        unavailable(tenant, "dynamodb")
        pass_outage(began)
    all_complete(tenant, website, jobs, charged=1 if OUTAGE > LEASE else 0)


def crawls_of(tenant: Tenant, website: Website, kind: str) -> dict[str, str]:
    """Crawls of pages that nobody asked for before: job id → path and query.

    Submitted at once: a page that is held answers before its fetch has timed out.
    """
    paths = [f"/{kind}?text=hung+{uuid4().hex[:8]}" for _ in range(CRAWLS)]
    with ThreadPoolExecutor(CRAWLS) as threads:
        jobs = threads.map(lambda path: tenant.crawl(f"{website.url}{path}"), paths)
        return dict(zip(jobs, paths, strict=True))


def pass_outage(began: float) -> None:
    """The part hangs for the rest of its time."""
    time.sleep(max(0.0, began + OUTAGE - time.monotonic()))


def all_complete(tenant: Tenant, website: Website, jobs: dict[str, str], charged: int = 0) -> None:
    """Every crawl ends well, uncharged, and asked its page once."""
    ended = {job_id: tenant.finished(job_id, REST) for job_id in jobs}
    assert {job["status"] for job in ended.values()} == {"completed"}
    assert max(job["attempts"] for job in ended.values()) <= charged
    assert {path: website.pages[path] for path in jobs.values()} == dict.fromkeys(jobs.values(), 1)


def unavailable(tenant: Tenant, dependency: str) -> None:
    """A search is refused in our own shape, before the gateway gives up on it."""
    answer = tenant("POST", "/api/v1/search", {"query": "anything"})
    assert answer.status_code == 503, answer.text
    body: dict[str, Any] = answer.json()
    assert set(body) == {"error", "code", "details", "request_id"}
    assert (body["code"], body["details"]) == ("DEPENDENCY_UNAVAILABLE", {"dependency": dependency})

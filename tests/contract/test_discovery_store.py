"""Contract tests of discovery stores: the fake, moto, and DynamoDB Local."""

from dataclasses import replace

import pytest

from spinneret.discovery import limits
from spinneret.discovery.dynamo import DynamoDiscoveryStore
from spinneret.discovery.models import DiscoverySource, FoundUrl
from spinneret.discovery.ports import DiscoveryStore
from spinneret.jobs.models import Job
from spinneret.jobs.ports import JobStore
from spinneret.kernel.errors import LeaseLost
from tests import factories
from tests.contract.backends import OF_AWS, Tables
from tests.contract.stored_jobs import claimed
from tests.fakes.discovering import FakeDiscoveryStore
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START

pytestmark = OF_AWS


@pytest.fixture
def found(store: JobStore, tables: Tables | None) -> DiscoveryStore:
    if tables is None:
        assert isinstance(store, FakeJobStore)
        return FakeDiscoveryStore(store)
    return DynamoDiscoveryStore(
        tables.client, tables.names["CrawlDefinitions"], tables.names["Jobs"]
    )


@pytest.fixture
def job(store: JobStore, tenant: str) -> Job:
    return claimed(store, tenant)


def urls(count: int) -> list[FoundUrl]:
    return [
        FoundUrl(
            url=f"https://site.example/{number}/Ελλάδα",
            score=None if number % 2 else 0.123,
            last_modified=START if number % 3 else None,
            sources=(DiscoverySource.SITEMAP, DiscoverySource.COMMON_CRAWL),
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 100, 101, limits.DISCOVERY_URLS_MAX])
def test_a_result_is_read_page_by_page(found: DiscoveryStore, job: Job, count: int) -> None:
    found.keep_found(factories.lease(job), urls(count), START)
    read: list[FoundUrl] = []
    after: int | None = 0
    while after is not None:
        page = found.page(job.ref, after, 33)
        read += page.urls
        after = page.after
    assert read == urls(count)


def test_what_was_never_found_has_no_pages(found: DiscoveryStore, job: Job) -> None:
    page = found.page(job.ref, 0, 100)
    assert (page.urls, page.after) == ((), None)
    found.keep_found(factories.lease(job), urls(3), START)
    assert found.page(job.ref, 5000, 100).urls == ()


def test_the_state_of_a_run_is_replaced_and_read_back(found: DiscoveryStore, job: Job) -> None:
    lease = factories.lease(job)
    assert found.state(job.ref, 1) is None
    large = "".join(f"{number * 7919 % 100_003:x}" for number in range(400_000))
    for text in ("first 🕸", large, "", "last"):
        found.keep_state(lease, 1, text, START)
        assert found.state(job.ref, 1) == text
    assert found.state(job.ref, 2) is None


def test_a_claim_that_is_over_writes_nothing(found: DiscoveryStore, job: Job) -> None:
    late = replace(factories.lease(job), fence=job.fence + 1)
    with pytest.raises(LeaseLost):
        found.keep_state(late, 1, "state", START)
    with pytest.raises(LeaseLost):
        found.keep_found(late, urls(1), START)
    assert found.state(job.ref, 1) is None
    assert found.page(job.ref, 0, 9).urls == ()

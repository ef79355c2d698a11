"""Races between workers of one crawl: threads on the fake, and on DynamoDB Local."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from spinneret.web.exploring.frontier.dynamo import DynamoFrontierStore
from spinneret.web.exploring.frontier.models import (
    Batch,
    CrawlRef,
    Ended,
    EndReason,
    Failed,
    Fetched,
    FoundLink,
    PageLease,
    Plan,
    Redirected,
    RedirectRefused,
)
from spinneret.web.exploring.frontier.service import Frontier
from spinneret.web.fetching.urls import parse_url
from tests.contract import frontier_table
from tests.contract.backends import OF_OTHERS, Tables
from tests.contract.races import Race, racing
from tests.fakes.exploring import FakeFrontierStore
from tests.fakes.time import HandClock

pytestmark = OF_OTHERS

THREADS = 8
SITE = "https://site.example"


@pytest.fixture
def frontier(tables: Tables | None) -> Iterator[Frontier]:
    clock = HandClock()
    if tables is None:
        yield Frontier(store=FakeFrontierStore(), clock=clock)
        return
    name = frontier_table.create(tables.client)
    yield Frontier(store=DynamoFrontierStore(tables.client, name), clock=clock)
    tables.client.delete_table(TableName=name)


@pytest.fixture
def ref(tenant: str) -> CrawlRef:
    return CrawlRef(tenant=tenant, crawl_id="job_1")


@pytest.fixture
def race() -> Iterator[Race]:
    with racing(THREADS) as together:
        yield together


def begun(frontier: Frontier, ref: CrawlRef, pages: int, **plan: int) -> Batch:
    """Begin a crawl with `pages` pages, and return its first batch."""
    frontier.begin(ref, Plan(**plan), [f"{SITE}/{n}" for n in range(pages)], fence=1)  # type: ignore[arg-type]  # numbers
    batch = frontier.next_batch(ref, fence=1)
    assert isinstance(batch, Batch)
    return batch


def claim(frontier: Frontier, ref: CrawlRef, key: str, owner: str) -> PageLease | None:
    return frontier.claim(ref, key, owner, frontier.clock() + timedelta(minutes=1))


def persistently_recorded(frontier: Frontier, visit: PageLease, outcome: Fetched | Failed) -> None:
    """Record the outcome; repeat that after collisions, as a worker does."""
    while True:
        try:
            return frontier.record(visit, outcome)
        except DependencyUnavailable:
            continue


def test_a_page_has_one_visitor(frontier: Frontier, ref: CrawlRef, race: Race) -> None:
    batch = begun(frontier, ref, 5)
    for key in batch.keys:
        visits = race(lambda n, key=key: claim(frontier, ref, key, f"worker-{n}"))
        assert sum(visit is not None for visit in visits) == 1


def test_every_outcome_counts_once(frontier: Frontier, ref: CrawlRef, race: Race) -> None:
    batch = begun(frontier, ref, THREADS)
    visits = [claim(frontier, ref, key, "worker") for key in batch.keys]
    outcomes = [
        Failed(error_code="HTTP_ERROR") if n % 4 == 3 else Fetched(content_hash=str(n))
        for n in range(THREADS)
    ]

    def record(number: int) -> None:
        for each in (number, (number + 1) % THREADS):  # two threads record each page
            visit = visits[each]
            assert visit is not None
            persistently_recorded(frontier, visit, outcomes[each])

    race(record)
    crawl = frontier.crawl(ref)
    assert (crawl.crawled, crawl.failed) == (THREADS * 3 // 4, THREADS // 4)


def test_a_redirects_target_is_asked_for_by_one(
    frontier: Frontier, ref: CrawlRef, race: Race
) -> None:
    batch = begun(frontier, ref, THREADS)
    visits = [claim(frontier, ref, key, "worker") for key in batch.keys]

    def redirected(number: int) -> bool:
        visit = visits[number]
        assert visit is not None
        try:
            frontier.redirects(visit)(parse_url(f"{SITE}/target"))
        except RedirectRefused as refused:
            return not isinstance(refused.outcome, Redirected)
        return True

    assert sum(race(redirected)) == 1
    assert frontier.crawl(ref).discovered == THREADS + 1


def test_of_drivers_the_one_with_the_newest_fence_goes_on(
    frontier: Frontier, ref: CrawlRef, race: Race
) -> None:
    batch = begun(frontier, ref, 2, max_pages=50)
    links = tuple(FoundLink(url=f"{SITE}/found/{n}") for n in range(250))
    for key in batch.keys:
        visit = claim(frontier, ref, key, "worker")
        assert visit is not None
        frontier.record(visit, Fetched(links=links))

    def drive(number: int) -> int | None:
        while True:
            try:
                step = frontier.next_batch(ref, fence=number + 1)
            except LeaseLost:
                return None
            except DependencyUnavailable:
                continue
            assert isinstance(step, Batch)
            return step.number

    numbers = race(drive)
    assert numbers[-1] == 2
    assert set(numbers) <= {2, None}
    crawl = frontier.crawl(ref)
    assert (crawl.fence, crawl.batch, crawl.discovered) == (THREADS, 2, 252)


def test_a_budget_is_exact_with_many_workers(frontier: Frontier, ref: CrawlRef, race: Race) -> None:
    begun(frontier, ref, 1, max_pages=17, max_depth=9)
    while True:
        step = frontier.next_batch(ref, fence=1)
        if isinstance(step, Ended):
            break
        assert isinstance(step, Batch)
        keys = step.keys

        def work(number: int, keys: tuple[str, ...] = keys) -> None:
            for key in keys:
                visit = claim(frontier, ref, key, f"{number}")
                if visit is None:
                    continue
                page = visit.page.url
                links = tuple(FoundLink(url=f"{page}/{n}") for n in range(3))
                outcome = Failed(error_code="X") if page.endswith("1") else Fetched(links=links)
                persistently_recorded(frontier, visit, outcome)

        race(work)
    assert step == Ended(EndReason.BUDGET)
    assert frontier.crawl(ref).crawled == 17

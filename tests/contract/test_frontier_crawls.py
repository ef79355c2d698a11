"""Run whole crawls on every backend: the store does what the crawl rules require."""

from collections.abc import Iterator

import pytest

from spinneret.web.exploring.frontier.dynamo import DynamoFrontierStore
from spinneret.web.exploring.frontier.models import CrawlRef, Plan, Strategy
from spinneret.web.exploring.frontier.ports import FrontierStore
from tests.contract import frontier_table
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.crawl_runs import CrawlRun, Faults, Node, reached
from tests.fakes.exploring import FakeFrontierStore

pytestmark = [OF_AWS, pytest.mark.heavy]

SITE = [
    Node(
        links=tuple((7 * number + step) % 40 for step in range(1, 6)),
        redirect=(number + 3) % 40 if number % 9 == 8 else None,
        content=number % 5 if number % 7 == 6 else None,
        fails=number % 11 == 10,
        hiccups=int(number % 13 == 12),
    )
    for number in range(40)
]


@pytest.fixture
def store(tables: Tables | None) -> Iterator[FrontierStore]:
    if tables is None:
        yield FakeFrontierStore()
        return
    name = frontier_table.create(tables.client)
    yield DynamoFrontierStore(tables.client, name)
    tables.client.delete_table(TableName=name)


@pytest.mark.parametrize("strategy", Strategy)
def test_all_pages_are_crawled(store: FrontierStore, tenant: str, strategy: Strategy) -> None:
    plan = Plan(strategy=strategy, max_depth=20, batch_pages=7, urls_per_host=90)
    faults = Faults(worker_dies=0.02, recorded_twice=0.3, claimed_twice=0.3)
    run = CrawlRun(SITE, plan, faults, 1, store, CrawlRef(tenant, "job_1"))
    run.run()
    assert set(run.site.requests) == reached(SITE, 20)


@pytest.mark.parametrize("budget", [1, 17])
def test_the_budget_is_exact(store: FrontierStore, tenant: str, budget: int) -> None:
    plan = Plan(max_depth=20, max_pages=budget)
    run = CrawlRun(SITE, plan, Faults(recorded_twice=0.5), 2, store, CrawlRef(tenant, "job_1"))
    run.run()
    assert run.frontier.crawl(run.ref).crawled == budget

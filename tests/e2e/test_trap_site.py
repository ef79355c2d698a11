"""Deep crawls of a site full of traps, through the deployed state machine; the oracle is `visited`.

`SPINNERET_TRAP_PAGES` is the number of its pages: 300 in `make prove`, which then crawls it with
every strategy, with budgets, and with killed workers and a stopped execution.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from tests.conftest import Aws
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.test_outages import kill_workers
from tests.traps.oracle import TRIES, first_visited, sized, visited
from tests.traps.server import TrapServer

PAGES: Final = int(os.environ.get("SPINNERET_TRAP_PAGES", "50"))
IS_LONG: Final = PAGES >= 300
SECONDS: Final = 60.0 + 2.0 * PAGES
RECOVERY: Final = 600.0
"""Time for a recovery: a lost execution's lease is as long as a batch may take, and the sweeper
runs every minute."""
SITE: Final = sized(PAGES, datetime.now(tz=UTC).year, is_long=IS_LONG)
DEPTH: Final = 100

pytestmark = [pytest.mark.stack, pytest.mark.timeout(SECONDS + RECOVERY)]
at_length = pytest.mark.skipif(not IS_LONG, reason="SPINNERET_TRAP_PAGES=300 asks for it")


@pytest.fixture
def server(deployed: Deployed) -> Iterator[TrapServer]:
    with TrapServer(SITE, deployed.trap_port) as running:
        yield running


def begin(tenant: Tenant, server: TrapServer, **fields: Any) -> str:
    """Submit a crawl of the whole site; return the job's id."""
    body = {"url": server.url, "max_depth": DEPTH, "max_pages": 1000, **fields}
    answer = tenant("POST", "/api/v1/crawl/deep", body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["job_id"])


def once(asked: frozenset[str]) -> dict[str, int]:
    """Return how often a crawl without faults requests each of these pages."""
    again = visited(SITE).again
    return {name: TRIES if name in again else 1 for name in asked}


def had(server: TrapServer) -> int:
    """Return how many of the requested pages exist."""
    nodes = map(SITE.node, server.requests)
    return sum(node is not None and node.is_page for node in nodes)


@pytest.mark.parametrize(
    "strategy", ["bfs", *(pytest.param(each, marks=at_length) for each in ("dfs", "best_first"))]
)
def test_every_page_within_reach_is_asked_for_once(
    strategy: str, tenant: Tenant, server: TrapServer
) -> None:
    ended = tenant.finished(begin(tenant, server, strategy=strategy), SECONDS)
    expected = visited(SITE)
    assert dict(server.requests) == once(expected.asked)
    assert (ended["status"], ended["end_reason"]) == ("completed", "exhausted")
    assert ended["pages_crawled"] == len(expected.had) == PAGES


@at_length
def test_best_first_leaves_out_what_isn_t_about_its_keyword(
    tenant: Tenant, server: TrapServer
) -> None:
    fields = {"strategy": "best_first", "keywords": ["silk"], "max_depth": 3}
    tenant.finished(begin(tenant, server, **fields), SECONDS)
    assert dict(server.requests) == once(visited(SITE, 3, by_keyword=True).asked)


@pytest.mark.parametrize(
    ("strategy", "budget"),
    [
        ("dfs", 17),
        *(
            pytest.param(strategy, budget, marks=at_length)
            for strategy in ("bfs", "dfs", "best_first")
            for budget in (1, 17, 100)
            if (strategy, budget) != ("dfs", 17)
        ),
    ],
)
def test_the_budget_is_exact(
    strategy: str, budget: int, tenant: Tenant, server: TrapServer
) -> None:
    fields = {"strategy": strategy, "max_pages": budget}
    ended = tenant.finished(begin(tenant, server, **fields), SECONDS)
    assert (ended["pages_crawled"], ended["end_reason"]) == (budget, "budget")
    assert had(server) == budget
    assert dict(server.requests) == once(frozenset(server.requests))
    assert strategy != "bfs" or set(server.requests) == first_visited(SITE, budget)


@at_length
def test_killed_workers_and_a_stopped_execution_change_no_page(
    tenant: Tenant, server: TrapServer, deployed: Deployed, aws: Aws
) -> None:
    """The faults cause extra requests only for pages in flight, three at a time."""
    job_id = begin(tenant, server)
    tenant.wait(job_id, lambda job: job["pages_crawled"] >= PAGES // 4, SECONDS)
    kill_workers(deployed.stack, deployed.resources["DeepCrawlStep"])
    tenant.wait(job_id, lambda job: job["pages_crawled"] >= PAGES // 2, SECONDS + RECOVERY / 2)
    stop_execution(aws, deployed.resources["DeepCrawlMachine"], job_id)
    ended = tenant.finished(job_id, SECONDS + RECOVERY)
    expected = once(visited(SITE).asked)
    assert (ended["status"], ended["pages_crawled"]) == ("completed", PAGES)
    assert set(server.requests) == set(expected)
    extra = {name: times - expected[name] for name, times in server.requests.items()}
    more = {name: times for name, times in extra.items() if times > 0}
    assert len(more) <= 10 + len(chain_of(more)), more
    assert set(more.values()) <= {1, 2}


def chain_of(names: dict[str, int]) -> list[str]:
    """Return the pages that one fetch requests one after the other, because they redirect."""
    return [name for name in names if name.startswith(("/far/", "/moved/"))]


def stop_execution(aws: Aws, machine: str, job_id: str) -> None:
    """Stop the execution, as an operator does; its page steps in progress continue."""
    machines = aws("stepfunctions")
    listed = machines.list_executions(stateMachineArn=machine, statusFilter="RUNNING")
    [running] = [each for each in listed["executions"] if each["name"].startswith(job_id)]
    machines.stop_execution(executionArn=running["executionArn"])

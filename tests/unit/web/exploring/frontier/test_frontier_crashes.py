"""A crawl whose process dies at any call to its store, and continues in another process."""

from typing import Any

import pytest

from spinneret.web.exploring.frontier.models import Plan, Strategy
from spinneret.web.exploring.frontier.service import Frontier
from tests.fakes.crashes import CrashPlan, Moment
from tests.fakes.crawl_runs import CrawlRun, Node, reached
from tests.sampling import sampled

SITE = (
    Node(links=(1, 2, 3)),
    Node(links=(2, 4), content=1),
    Node(redirect=5),
    Node(links=(6, 7), content=1),
    Node(fails=True),
    Node(links=(8, 0, 2)),
    Node(redirect=2),
    Node(links=(9,)),
    Node(),
    Node(redirect=8),
)
PLANS = [
    Plan(strategy=strategy, max_depth=depth, max_pages=pages, batch_pages=2, urls_per_host=50)
    for strategy in Strategy
    for depth, pages in ((9, 100), (9, 3))
]


def crashing_run(plan: Plan, crashes: CrashPlan) -> CrawlRun:
    run = CrawlRun(SITE, plan)
    store: Any = crashes.wrap("frontier", run.store)
    run.frontier = Frontier(store=store, clock=run.clock)
    return run


def came_of(run: CrawlRun) -> tuple[Any, ...]:
    """Return the part of the result that doesn't depend on when a process died."""
    crawl = run.store.crawl(run.ref)
    assert crawl is not None
    rows = {
        (page.url, page.state, page.depth)
        for page in run.store.pages(run.ref, None, None, 99).pages
    }
    return rows, crawl.discovered, crawl.crawled, crawl.failed, crawl.batch, crawl.end_reason


@pytest.mark.parametrize(
    "plan",
    sampled(reversed(PLANS)),
    ids=str,
)
def test_the_crawl_comes_to_the_same_end(plan: Plan) -> None:
    calm = CrashPlan()
    expected = crashing_run(plan, calm)
    expected.run()
    if plan.max_pages == 100:
        assert set(expected.site.requests) == reached(SITE, plan.max_depth)
    assert len(calm.points()) > 50
    for at, moment in calm.points():
        crashes = CrashPlan(at, Moment(moment))
        run = crashing_run(plan, crashes)
        run.run()
        assert crashes.crashed
        assert came_of(run) == came_of(expected), (at, moment, calm.calls[at - 1])
        assert len(run.site.requests) <= len(expected.site.requests) + 2  # a visit with a redirect

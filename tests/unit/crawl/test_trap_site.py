"""Deep crawls of a site full of traps request exactly the pages that an oracle names, each once."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

import pytest

from spinneret.crawl.deep.models import DeepCrawlView
from spinneret.web.exploring.frontier.models import Strategy
from spinneret.web.exploring.frontier.service import Frontier
from tests.fakes.time import START
from tests.sampling import sampled
from tests.simulation.run import silent_logs
from tests.traps.crawls import End, TrapCrawl, crawls_of, violations
from tests.traps.oracle import first_visited, sized, visited
from tests.traps.planted import (
    CountsBeforeTheFetch,
    ForgetsPages,
    ForgetsRedirects,
    IgnoresClaims,
    LendsUrlsToAll,
)
from tests.traps.site import TrapSite

SMALL: Final = sized(50, START.year, is_long=False)
LARGE: Final = sized(300, START.year, is_long=True)
SITES: Final = [
    pytest.param(SMALL, id="50 pages"),
    pytest.param(LARGE, id="300 pages", marks=[pytest.mark.heavy, pytest.mark.proof]),
]
BUDGETS: Final = [
    (SMALL, 17),
    (LARGE, 100),
    *(
        pytest.param(site, budget, marks=pytest.mark.proof)
        for site, budget in ((SMALL, 1), (LARGE, 17), (LARGE, 1))
    ),
]
STRATEGIES: Final = sampled([Strategy.BFS, Strategy.DFS, Strategy.BEST_FIRST])
SEEDS: Final = sampled(range(25), tested=3)
ASKED: Final = visited(SMALL).asked
_MOVES: Final = 3000
"""Number of moves in a crawl of SMALL, rounded down."""

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture
def quiet() -> Iterator[None]:
    with silent_logs():
        yield


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("workers", sampled([8, 1], tested=1))
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_page_within_reach_is_asked_for_once(
    site: TrapSite, workers: int, strategy: Strategy
) -> None:
    with crawls_of(site, seed=workers) as make:
        crawl = make(workers=workers)
        view = crawl.crawl(strategy=strategy)
    assert violations(crawl, view, visited(site).asked) == []
    assert view.end_reason == "exhausted"


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("depth", sampled([1, 0, 3]))
def test_no_page_is_deeper_than_asked_for(site: TrapSite, depth: int) -> None:
    for strategy in Strategy:
        with crawls_of(site) as make:
            crawl = make(workers=8)
            view = crawl.crawl(strategy=strategy, max_depth=depth)
        assert violations(crawl, view, visited(site, depth).asked) == []


@pytest.mark.parametrize("site", SITES)
def test_best_first_leaves_out_what_isn_t_about_its_keyword(site: TrapSite) -> None:
    expected = visited(site, by_keyword=True)
    assert visited(site).asked - expected.asked
    with crawls_of(site) as make:
        crawl = make(workers=8)
        view = crawl.crawl(strategy=Strategy.BEST_FIRST, keywords=("silk",))
    assert violations(crawl, view, expected.asked) == []


@pytest.mark.heavy
@pytest.mark.parametrize(("site", "budget"), BUDGETS)
@pytest.mark.parametrize("strategy", Strategy)
def test_the_budget_is_exact_and_its_pages_don_t_depend_on_who_is_faster(
    site: TrapSite, budget: int, strategy: Strategy
) -> None:
    asked = set()
    for seed, workers in enumerate((1, 8, 8)):
        with crawls_of(site, seed) as make:
            crawl = make(workers=workers)
            view = crawl.crawl(strategy=strategy, max_pages=budget)
        assert (view.pages_crawled, view.end_reason) == (budget, "budget")
        assert [
            page for page in violations(crawl, view, crawl.requests) if "requests" in page
        ] == []
        assert had(crawl) == budget
        asked.add(frozenset(crawl.requests))
    assert len(asked) == 1
    assert strategy is not Strategy.BFS or asked == {first_visited(site, budget)}


@pytest.mark.heavy
def test_breadth_first_asks_for_the_beginning_of_a_queue_whatever_the_budget() -> None:
    assert first_visited(SMALL, 1000) == ASKED
    for budget in range(1, 51, 7):
        with crawls_of(SMALL, budget) as make:
            crawl = make(workers=8)
            crawl.crawl(max_pages=budget)
        assert set(crawl.requests) == first_visited(SMALL, budget), budget


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.heavy
def test_steps_that_die_lose_no_page_and_double_none_but_theirs(
    strategy: Strategy, seed: int
) -> None:
    with crawls_of(SMALL, seed) as make:
        crawl = make(workers=8)
        view = faulty(crawl, strategy, seed, ends=())
    assert violations(crawl, view, ASKED) == []
    assert crawl.steps.died


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("end", sampled(End))
@pytest.mark.heavy
def test_a_lost_execution_is_followed_by_one_that_ends_at_the_same_pages(
    end: End, seed: int
) -> None:
    with crawls_of(SMALL, seed) as make:
        crawl = make(workers=8)
        view = faulty(crawl, list(Strategy)[seed % 3], seed, ends=(end,) * (1 + seed % 2))
    assert violations(crawl, view, ASKED) == []
    assert len(crawl.executions.started) > 1


@pytest.mark.heavy
@pytest.mark.parametrize("end", End)
@pytest.mark.parametrize("budget", [1, 17, 100])
def test_the_budget_is_exact_whatever_dies(budget: int, end: End) -> None:
    for seed in range(2):
        with crawls_of(LARGE, seed) as make:
            crawl = make(workers=8)
            random = Random(seed)
            moves = 40 * budget
            crawl.steps.deaths = random.sample(range(1, moves), 6)
            crawl.steps.ends = {random.randrange(1, moves): end}
            view = crawl.crawl(max_pages=budget)
        assert view.pages_crawled == had(crawl) == budget
        assert set(crawl.requests) == first_visited(LARGE, budget)


@pytest.mark.heavy
def test_a_long_crawl_goes_on_in_the_next_execution_with_the_same_pages() -> None:
    with crawls_of(SMALL) as make:
        crawl = make(workers=8)
        crawl.segment_batches = 2
        view = crawl.crawl()
    assert violations(crawl, view, ASKED) == []
    assert len(crawl.executions.started) > 2


# ---------------------------------------------------------------- Planted faults


@pytest.mark.heavy
def test_a_claim_that_ignores_others_is_found() -> None:
    with crawls_of(SMALL) as make:
        crawl = make(workers=8, frontier=IgnoresClaims)
        crawl.documents, crawl.twice = LendsUrlsToAll(crawl.store), 0.2
        found = violations(crawl, crawl.crawl(), ASKED)
    assert any("1 excused" not in each and "requests" in each for each in found)


@pytest.mark.heavy
def test_a_redirect_that_asks_nobody_is_found() -> None:
    assert "/page/1: 2 requests, 0 excused" in found_of(ForgetsRedirects)


@pytest.mark.heavy
def test_a_budget_that_counts_before_the_fetch_is_found() -> None:
    with crawls_of(SMALL) as make:
        crawl = make(workers=8, frontier=CountsBeforeTheFetch)
        crawl.crawl(max_pages=40)
    assert had(crawl) < 40


@pytest.mark.heavy
def test_a_page_that_isn_t_kept_is_found() -> None:
    for seed in range(20):
        with crawls_of(SMALL, seed) as make:
            crawl = make(workers=8)
            crawl.cache = ForgetsPages()
            view = faulty(crawl, Strategy.BFS, seed, ends=())
        if any("2 requests, 0 excused" in each for each in violations(crawl, view, ASKED)):
            return
    pytest.fail("no seed finds it")


def found_of(frontier: type[Frontier]) -> list[str]:
    """Return the violations of a crawl with a faulty frontier, in which some steps run twice."""
    with crawls_of(SMALL) as make:
        crawl = make(workers=8, frontier=frontier)
        crawl.twice = 0.2
        return violations(crawl, crawl.crawl(), ASKED)


def faulty(crawl: TrapCrawl, strategy: Strategy, seed: int, ends: Sequence[End]) -> DeepCrawlView:
    """Run a crawl in which some steps die, and whose execution ends in the given ways."""
    random = Random(seed)
    crawl.twice = 0.1
    crawl.steps.deaths = random.sample(range(1, _MOVES), 5)
    crawl.steps.ends = dict(zip(random.sample(range(1, _MOVES), len(ends)), ends, strict=True))
    return crawl.crawl(strategy=strategy)


def had(crawl: TrapCrawl) -> int:
    """Return the number of pages that were fetched with success."""
    nodes = map(crawl.site.node, crawl.requests)
    return sum(node is not None and node.is_page for node in nodes)

"""Crawls of generated websites, compared with an oracle that doesn't use a frontier."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinneret.web.exploring.frontier.models import EndReason, PageState, Plan, Strategy
from tests.fakes.crawl_runs import REF, CrawlRun, Faults, Node, reached

SIZE = 14
WORDS = ("", "-silk", "-silk-wool")
EVERYTHING = Faults(
    worker_dies=0.03,
    driver_dies=0.05,
    recorded_twice=0.1,
    overtaken=0.3,
    claimed_twice=0.2,
)
OVERTAKEN = Faults(overtaken=0.5, claimed_twice=0.3, recorded_twice=0.3)

numbers = st.integers(0, SIZE - 1)
nodes = st.builds(
    Node,
    links=st.lists(numbers, max_size=5).map(tuple),
    redirect=st.one_of(st.none(), st.none(), st.none(), numbers),
    content=st.one_of(st.none(), st.none(), st.integers(0, 2)),
    fails=st.sampled_from([False, False, False, True]),
    words=st.sampled_from(WORDS),
)
websites = st.lists(nodes, min_size=SIZE, max_size=SIZE)
plain_nodes = st.builds(
    Node,
    links=st.lists(numbers, max_size=5).map(tuple),
    fails=st.sampled_from([False, False, False, True]),
    words=st.sampled_from(WORDS),
)
plain_websites = st.lists(plain_nodes, min_size=SIZE, max_size=SIZE)
seeds = st.integers(0, 2**32)
strategies = st.sampled_from(Strategy)
batches = st.sampled_from([1, 2, 5, 25])
depths = st.integers(0, 6)


def plan_of(strategy: Strategy, depth: int, batch: int, pages: int = 100) -> Plan:
    return Plan(strategy=strategy, max_depth=depth, batch_pages=batch, max_pages=pages)


# covers C-06
@given(websites, strategies, depths, batches, seeds)
def test_every_strategy_asks_for_exactly_the_pages_within_reach_and_for_each_once(
    site: list[Node], strategy: Strategy, depth: int, batch: int, seed: int
) -> None:
    run = CrawlRun(site, plan_of(strategy, depth, batch), OVERTAKEN, seed)
    assert run.run().reason is EndReason.EXHAUSTED
    assert sorted(run.site.requests) == sorted(reached(site, depth))


@pytest.mark.heavy
@given(websites, strategies, depths, batches, seeds)
@settings(max_examples=200)
def test_whatever_dies_the_same_pages_are_asked_for_in_the_end(
    site: list[Node], strategy: Strategy, depth: int, batch: int, seed: int
) -> None:
    run = CrawlRun(site, plan_of(strategy, depth, batch), EVERYTHING, seed)
    run.run()
    lost = [page for page in run.pages() if page.error_code == "WORKER_LOST"]
    if not lost:
        assert set(run.site.requests) == reached(site, depth)


# covers C-06
@given(websites, strategies, batches, st.integers(1, SIZE), seeds)
def test_the_budget_is_exact_whatever_dies(
    site: list[Node], strategy: Strategy, batch: int, budget: int, seed: int
) -> None:
    run = CrawlRun(site, plan_of(strategy, SIZE, batch, budget), EVERYTHING, seed)
    end = run.run()
    crawl = run.frontier.crawl(REF)
    lost = any(page.error_code == "WORKER_LOST" for page in run.pages())
    there = {
        number
        for number in reached(site, SIZE)
        if site[number].redirect is None and not site[number].fails
    }
    assert crawl.crawled <= budget
    if not lost:
        assert crawl.crawled == min(budget, len(there))
    assert (end.reason is EndReason.BUDGET) is (crawl.crawled == budget)


@given(websites, strategies, depths, batches, seeds)
def test_counters_are_those_of_the_rows(
    site: list[Node], strategy: Strategy, depth: int, batch: int, seed: int
) -> None:
    run = CrawlRun(site, plan_of(strategy, depth, batch), EVERYTHING, seed)
    run.run()
    crawl, states = run.frontier.crawl(REF), Counter(page.state for page in run.pages())
    assert crawl.discovered == sum(states.values())
    assert crawl.crawled == states[PageState.CRAWLED]
    assert crawl.failed == states[PageState.FAILED]
    assert not states[PageState.OPEN]
    assert not states[PageState.FETCHED]


@given(plain_websites, strategies, depths, batches, seeds)
def test_the_order_of_a_crawl_does_not_depend_on_who_is_faster_or_dies(
    site: list[Node], strategy: Strategy, depth: int, batch: int, seed: int
) -> None:
    plan = plan_of(strategy, depth, batch, pages=9)
    calm, wild = CrawlRun(site, plan), CrawlRun(site, plan, EVERYTHING, seed)
    calm.run()
    wild.run()
    if not any(page.error_code == "WORKER_LOST" for page in wild.pages()):
        assert wild.in_order() == calm.in_order()


@given(plain_websites, batches)
def test_breadth_first_is_the_order_of_a_queue(site: list[Node], batch: int) -> None:
    run = CrawlRun(site, plan_of(Strategy.BFS, SIZE, batch))
    run.run()
    queue = [0]
    for number in queue:
        links = () if site[number].fails else site[number].links
        queue += [to for to in dict.fromkeys(links) if to not in queue]
    assert run.in_order() == queue


@st.composite
def trees(draw: st.DrawFn) -> list[Node]:
    """Draw a site where exactly one page links to each page, except to the start."""
    children: list[list[int]] = [[] for _ in range(SIZE)]
    for number in range(1, SIZE):
        children[draw(st.integers(0, number - 1))].append(number)
    words = draw(st.lists(st.sampled_from(WORDS), min_size=SIZE, max_size=SIZE))
    return [
        Node(links=tuple(draw(st.permutations(c))), words=words[n]) for n, c in enumerate(children)
    ]


@given(trees())
def test_depth_first_is_the_order_of_recursion(site: list[Node]) -> None:
    run = CrawlRun(site, plan_of(Strategy.DFS, SIZE, 1))
    run.run()

    def descend(number: int) -> list[int]:
        return [number, *(page for to in site[number].links for page in descend(to))]

    assert run.in_order() == descend(0)


@given(trees())
def test_best_first_is_the_order_of_scores(site: list[Node]) -> None:
    plan = Plan(
        strategy=Strategy.BEST_FIRST,
        max_depth=SIZE,
        batch_pages=1,
        keywords=("silk", "wool"),
        score_threshold=0,
    )
    run = CrawlRun(site, plan)
    run.run()
    waiting, order = [0], list[int]()
    while waiting:
        best = max(WORDS.index(site[number].words) for number in waiting)
        if order:  # the start comes first, whatever its score
            number = next(each for each in waiting if WORDS.index(site[each].words) == best)
        else:
            number = 0
        waiting.remove(number)
        order.append(number)
        waiting += site[number].links
    assert run.in_order() == order


@given(websites, batches, depths, seeds)
def test_best_first_follows_no_link_below_the_threshold(
    site: list[Node], batch: int, depth: int, seed: int
) -> None:
    plan = Plan(
        strategy=Strategy.BEST_FIRST,
        max_depth=depth,
        batch_pages=batch,
        keywords=("silk", "wool"),
        score_threshold=0.4,
    )
    run = CrawlRun(site, plan, OVERTAKEN, seed)
    run.run()
    expected = reached(site, depth, lambda number: "silk" in site[number].words)
    assert set(run.site.requests) == expected


@pytest.mark.parametrize("hiccups", [0, 1, 2, 3])
def test_a_page_is_asked_for_as_often_as_it_has_attempts(hiccups: int) -> None:
    run = CrawlRun([Node(links=(1,)), Node(hiccups=hiccups)], Plan())
    run.run()
    assert run.site.requests.count(1) == min(hiccups + 1, 3)
    [page] = [page for page in run.pages() if run.site.number(page.url) == 1]
    assert page.state is (PageState.CRAWLED if hiccups < 3 else PageState.FAILED)

"""Steps of a deep crawl's execution: blocks of pages, several blocks in one invocation."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from threading import Barrier, Lock
from typing import Any

import pytest

from spinneret.content.extraction.models import Content
from spinneret.crawl import limits
from spinneret.crawl.deep.blocks import PageBlocks, PageOrder
from spinneret.crawl.deep.service import HOST_BUSY, crawl_ref
from spinneret.crawl.deep.stepping import DeepCrawlStep
from spinneret.jobs.models import JobRef, JobStatus, Transition
from spinneret.kernel.errors import LeaseLost
from spinneret.web.exploring.frontier.models import Deferred, Fetched, FrontierPage, PageState
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.limits import SHORT_WAIT_SECONDS
from tests.fakes.deep_crawling import HOST, DeepCrawlWorld
from tests.fakes.fetching import fetched_page
from tests.fakes.state_machine import FakeCallbacks, StateMachine
from tests.fakes.time import START

WIDE = {"/": [f"/{n}" for n in range(40)], **{f"/{n}": ["/"] for n in range(40)}}
SMALL = {"/": ["/a", "/b"], "/a": ["/c"], "/b": ["/"], "/c": []}
LATER = START + timedelta(seconds=5)


class Driven:
    """A deep crawl whose state machine runs in this process."""

    def __init__(self, crawl: DeepCrawlWorld, at_once: int = 1) -> None:
        self.crawl = crawl
        self.sleeps: list[float] = []
        self.blocks = PageBlocks(
            driver=crawl.driving().driver,
            page=crawl.page_step(),
            clock=crawl.clock,
            at_once=at_once,
        )
        self.step = DeepCrawlStep(
            crawls=crawl.driving(), blocks=self.blocks, clock=crawl.clock, sleep=self._sleep
        )
        self.machine = StateMachine(
            "deep_crawl", {"Step": self._invoked}, crawl.clock, FakeCallbacks()
        )
        self.seconds = 120.0
        """Time of an invocation, in seconds."""

    def run(self, **given: Any) -> JobRef:
        """Submit a crawl, and run its execution to the end."""
        ref = self.crawl.ask(**given)
        self.crawl.deliver()
        self.machine.run(list(self.crawl.executions.started.values())[-1])
        return ref

    def pages(self, ref: JobRef) -> dict[str, FrontierPage]:
        """Return the rows of pages, by path."""
        rows = self.crawl.frontier.pages(crawl_ref(ref), None, None, 1000).pages
        return {page.url.removeprefix(HOST): page for page in rows}

    def _invoked(self, state: dict[str, Any]) -> Any:
        begun = self.crawl.clock()
        return self.step(state, lambda: self.seconds - (self.crawl.clock() - begun).total_seconds())

    def _sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.crawl.clock.advance(seconds)


class Served(Fetcher):
    """A fetcher that calls `before` with the path of each request."""

    def __init__(self, inner: Fetcher, before: Callable[[str], None]) -> None:
        self._inner = inner
        self._before = before

    def fetch(self, request: FetchRequest) -> FetchedPage:
        """Fetch the page, after calling `before`."""
        self._before(request.url.text.removeprefix(HOST))
        return self._inner.fetch(request)


def served(crawl: DeepCrawlWorld, before: Callable[[str], None]) -> None:
    """Call `before` with the path of each request from now on."""
    direct = crawl.direct
    crawl.direct = lambda: Served(direct(), before)  # type: ignore[method-assign]  # for this crawl


def test_one_invocation_crawls_batch_after_batch() -> None:
    driven = Driven(DeepCrawlWorld(WIDE))
    ref = driven.run()
    assert driven.crawl.job(ref).status is JobStatus.COMPLETED
    assert driven.machine.entered == {"Crawl": 1, "Choose": 1, "Stop": 1}
    assert len(driven.crawl.asked()) == len(set(driven.crawl.asked())) == 41


def test_the_timeline_gets_a_batch_every_ten_seconds_at_most() -> None:
    driven = Driven(DeepCrawlWorld(WIDE))
    ref = driven.run()
    timeline = driven.crawl.store.events(ref, None, 100)
    begun = [each.created_at for each in timeline if each.message.startswith("batch")]
    assert begun
    assert all((two - one).total_seconds() >= 9.9 for one, two in pairwise(begun))


def test_an_invocation_that_has_little_time_left_leaves_the_rest_as_it_is() -> None:
    driven = Driven(DeepCrawlWorld(WIDE))
    served(driven.crawl, lambda _: driven.crawl.clock.advance(4))
    driven.blocks.page = driven.crawl.page_step()
    ref = driven.run()
    assert driven.crawl.job(ref).status is JobStatus.COMPLETED
    assert driven.machine.entered["Crawl"] >= 3
    assert len(driven.crawl.asked()) == len(set(driven.crawl.asked())) == 41
    assert {(page.fence, page.attempts) for page in driven.pages(ref).values()} == {(1, 0)}


def test_a_slow_host_costs_no_invocation_that_sleeps() -> None:
    crawl = DeepCrawlWorld(SMALL)
    crawl.pages[f"{HOST}/robots.txt"] = fetched_page(
        f"{HOST}/robots.txt", "User-agent: *\nCrawl-delay: 5", media_type="text/plain"
    )
    driven = Driven(crawl)
    ref = driven.run()
    assert crawl.job(ref).status is JobStatus.COMPLETED
    assert sorted(crawl.asked()) == ["/", "/a", "/b", "/c"]
    assert all(seconds <= SHORT_WAIT_SECONDS for seconds in driven.sleeps)
    assert driven.machine.entered["Wait"] == 4  # 5 s for each page
    assert {page.attempts for page in driven.pages(ref).values()} == {0}
    assert max(page.fence for page in driven.pages(ref).values()) == 2


def test_pages_are_fetched_three_at_a_time_and_extracted_one_by_one() -> None:
    crawl = DeepCrawlWorld({"/": ["/a", "/b", "/c"], **{path: [] for path in ("/a", "/b", "/c")}})
    together, processing, extract = Barrier(3, timeout=10), Lock(), crawl.extract

    def fetching(path: str) -> None:
        if path not in {"/", "/robots.txt"}:
            together.wait()

    def alone(*given: Any, **named: Any) -> Content:
        assert processing.acquire(blocking=False)
        try:
            return extract(*given, **named)
        finally:
            processing.release()

    served(crawl, fetching)
    crawl.extract = alone
    driven = Driven(crawl, limits.PAGES_AT_ONCE)
    ref = driven.run()
    assert {page.state for page in driven.pages(ref).values()} == {PageState.CRAWLED}


def test_pages_wait_for_the_index_together() -> None:
    crawl = DeepCrawlWorld({"/": ["/a", "/b", "/c"], **{path: [] for path in ("/a", "/b", "/c")}})
    together, write = Barrier(3, timeout=10), crawl.index.write

    def waiting(chunks: Any, *given: Any, **named: Any) -> Any:
        if not chunks[0].url.endswith("/"):
            together.wait()
        return write(chunks, *given, **named)

    crawl.index.write = waiting  # type: ignore[method-assign]  # for this test
    driven = Driven(crawl, limits.PAGES_AT_ONCE)
    ref = driven.run()
    assert {page.state for page in driven.pages(ref).values()} == {PageState.CRAWLED}


def test_a_page_that_breaks_its_worker_costs_only_its_own_attempts() -> None:
    crawl = DeepCrawlWorld(WIDE)
    extract = crawl.extract

    def broken(text: str, *given: Any, **named: Any) -> Content:
        if "Page /7\n" in text:
            raise RuntimeError("a fault of ours")
        return extract(text, *given, **named)

    crawl.extract = broken
    driven = Driven(crawl)
    ref = driven.run()
    states = {path: (page.state, page.attempts) for path, page in driven.pages(ref).items()}
    assert states.pop("/7") == (PageState.FAILED, 3)
    assert set(states.values()) == {(PageState.CRAWLED, 0)}


@pytest.mark.parametrize(("strategy", "most"), [("bfs", 25), ("dfs", 5), ("best_first", 5)])
def test_a_crawl_in_an_order_takes_five_pages_at_most_at_a_time(strategy: str, most: int) -> None:
    crawl = DeepCrawlWorld(WIDE)
    crawl.ask(strategy=strategy, keywords=["silk"], score_threshold=0)
    crawl.deliver()
    crawl.execute(1)
    state = list(crawl.executions.started.values())[-1]
    block = crawl.driving().take(state, lambda: 60.0).block
    assert block is not None
    assert len(block.pages) == most


def test_a_cancelled_crawl_begins_no_page_after_two_seconds() -> None:
    crawl = DeepCrawlWorld(WIDE)
    asked: list[str] = []

    def cancelled(path: str) -> None:
        asked.append(path)
        crawl.clock.advance(0.9)
        if path == "/3":
            crawl.control().move(ref, Transition.CANCEL)

    served(crawl, cancelled)
    driven = Driven(crawl)
    ref = crawl.ask()
    crawl.deliver()
    driven.machine.run(list(crawl.executions.started.values())[-1])
    assert crawl.job(ref).status is JobStatus.CANCELLED
    assert asked[asked.index("/3") + 1 :] in ([], ["/4"], ["/4", "/5"])


def test_a_page_that_is_refused_makes_its_block_look_for_its_claim() -> None:
    crawl = DeepCrawlWorld(WIDE)
    driven = Driven(crawl)
    ref = crawl.ask()
    crawl.deliver()
    state = list(crawl.executions.started.values())[-1]
    block = crawl.driving().take(state, lambda: 60.0).block
    assert block is not None
    begun: list[FrontierPage] = []

    def refused(_block: object, page: FrontierPage, *_: object) -> None:
        begun.append(page)
        crawl.control().move(ref, Transition.PAUSE)

    driven.blocks.page = refused  # type: ignore[assignment]  # has no outcome
    with pytest.raises(LeaseLost):
        driven.blocks(replace(block, pages=(page("1"), page("2"))), {}, lambda: 60.0)
    assert len(begun) == 1


# ---------------------------------------------------------------- The order of a block


def page(key: str, host: str = "site.example", **given: Any) -> FrontierPage:
    return FrontierPage(
        key=key,
        url=f"https://{host}/{key}",
        host=host,
        depth=0,
        state=PageState.OPEN,
        rank="",
        discovered_at=START,
        **given,
    )


def begun(order: PageOrder) -> list[str]:
    """Begin all pages that may begin now, and return their keys."""
    found = []
    while (each := order.begin(START)) is not None:
        found.append(each.key)
    return found


def test_pages_of_a_host_that_made_one_wait_stay_until_it_opens() -> None:
    one, two, other = page("1"), page("2"), page("3", "other.example")
    order = PageOrder([one, two, other], {})
    assert order.begin(START) == one
    order.end(one, Deferred(until=LATER, error_code=HOST_BUSY))
    assert begun(order) == ["3"]
    assert order.opens_at() == LATER
    assert order.begin(LATER) == two


def test_a_host_that_made_a_page_wait_gets_one_at_a_time() -> None:
    order = PageOrder([page("1"), page("2"), page("3")], {"site.example": START})
    assert begun(order) == ["1"]
    order.end(page("1"), Fetched())
    assert begun(order) == ["2"]


def test_a_page_whose_worker_was_lost_is_crawled_alone() -> None:
    lost = page("2", leased_until=START)
    order = PageOrder([page("1"), lost, page("3"), page("4")], {})
    assert begun(order) == ["1", "3", "4"]
    for key in "134":
        order.end(page(key), None)
    assert begun(order) == ["2"]
    first = PageOrder([lost, page("3")], {})
    assert begun(first) == ["2"]
    first.end(lost, None)
    assert begun(first) == ["3"]

"""Deep crawls of the site in process: page steps interleave, die, and outlive their execution.

One step moves at a time, and it parks before and after every call of a port, so a seed gives the
same crawl again (see the simulation's turnstile).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from datetime import timedelta
from enum import StrEnum
from random import Random
from typing import Any, Final

from spinneret.crawl.deep.driving import PageBlock, Taken
from spinneret.crawl.deep.models import DeepCrawlView
from spinneret.crawl.deep.pages import PageStep
from spinneret.jobs.models import JobRef, JobStatus, Transition
from spinneret.jobs.rules import TERMINAL
from spinneret.kernel.bounds import PAGE_ATTEMPTS
from spinneret.kernel.clock import parse_stamp
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from spinneret.web.exploring.frontier.models import CrawlRef, FrontierPage, PageState
from spinneret.web.exploring.frontier.ports import FrontierStore
from spinneret.web.exploring.frontier.service import Frontier
from spinneret.web.fetching.ports import Fetcher
from tests.factories import TENANT
from tests.fakes.crashes import Crash
from tests.fakes.deep_crawling import DeepCrawlWorld
from tests.fakes.exploring import FakeFrontierStore
from tests.simulation.turnstile import Actor, Role
from tests.traps.fetching import SiteFetcher, extract_once
from tests.traps.oracle import TRIES
from tests.traps.site import TrapSite

_THREADS: Final = 64
_STEPS: Final = 5000
_RUNS: Final = 30
_TAKE: Final = "take"
_TAKES: Final = 9  # tries of one step by the machine


class End(StrEnum):
    """Reason why an execution ends while its page steps are active."""

    LOST = "lost"
    """The execution disappears: its lease ends at most an hour later."""
    PAUSED = "paused"
    """The tenant pauses and resumes at once: the next execution finds steps with live claims."""


class Steps:
    """All steps of one crawl; every move of a step has a number."""

    def __init__(self, seed: int, threads: Executor) -> None:
        self.random = Random(seed)
        self.moves = 0
        self.deaths: Collection[int] = ()
        """Numbers of the moves at which the moving step dies."""
        self.ends: Mapping[int, End] = {}
        """Numbers of the moves at which the execution ends → the reason."""
        self.excused: Counter[str] = Counter()
        """Requests without effect since their step or execution died: name of the page → count."""
        self.died = 0
        self._asked: dict[Actor, list[str]] = {}
        self._strays: list[Actor] = []
        self._blind: set[Actor] = set()
        self._losses: Counter[str] = Counter()
        self._moving: Actor | None = None
        self._threads = threads

    @property
    def is_faulty(self) -> bool:
        """Return whether any fault is planned."""
        return bool(self.deaths or self.ends)

    def begin(self, name: str, body: Callable[[], None]) -> Actor:
        """Create a step that hasn't moved yet; its name is a page's key."""
        actor = Actor(name, Role.WORKER, timedelta(), body)
        self._asked[actor] = []
        return actor

    def move(self, actor: Actor) -> End | None:
        """Move a step to its next call; return the execution's end if this move has one."""
        self.moves += 1
        if self.moves in self.deaths and self._may_die(actor):
            self.died += 1
            actor.doomed = True
            self._lose(actor)
        self._moving = actor
        try:
            actor.move(self._threads)
        finally:
            self._moving = None
        if not isinstance(actor.ended_by, Crash | DependencyUnavailable | None):
            raise actor.ended_by
        return self.ends.get(self.moves)

    def abandon(self, actors: Sequence[Actor]) -> None:
        """Turn the steps of an ended execution into strays, which may move later."""
        for actor in actors:
            self._lose(actor)
        self._strays += actors

    def move_a_stray(self) -> None:
        """Sometimes move a step of a lost execution."""
        if self._strays and self.random.random() < 0.3:
            stray = self.random.choice(self._strays)
            self.move(stray)
            if stray.ended:
                self._strays.remove(stray)

    def end_all(self) -> None:
        """End all steps, so that no thread remains."""
        self._moving = None
        for actor in self._asked:
            actor.doomed = True
            while actor.started and not actor.ended:
                actor.move(self._threads)

    def wrap(self, name: str, port: Any) -> Any:
        """Wrap a port so that a step parks at each of its calls."""
        return _Parking(self, name, port)

    def park(self) -> None:
        """Park the moving step; no-op if none moves, as in the worker."""
        if self._moving is not None:
            self._moving.park()

    def asks(self, name: str) -> None:
        """Record that the moving step requests a page."""
        if self._moving in self._strays or self._moving in self._blind:
            self.excused[name] += 1
        elif self._moving is not None:
            self._asked[self._moving].append(name)

    def keeps(self) -> None:
        """Record that the moving step has stored all pages that it has requested."""
        if self._moving is not None:
            self._asked[self._moving].clear()

    def keeps_nothing(self) -> None:
        """Record that the moving step has lost the pages that it has requested."""
        if self._moving is not None:
            self._excuse(self._moving)
            self.keeps()

    def finds_nothing(self) -> None:
        """Record that the moving step can't know earlier requests; all its requests are excused."""
        if self._moving is not None:
            self._blind.add(self._moving)

    def _may_die(self, actor: Actor) -> bool:
        """Return whether a step may die; a page fails for good when it loses its third worker."""
        losses = self._losses[actor.name] + len(self.ends)
        return not actor.doomed and (actor.name == _TAKE or losses < PAGE_ATTEMPTS - 1)

    def _lose(self, actor: Actor) -> None:
        self._losses[actor.name] += 1
        self._excuse(actor)

    def _excuse(self, actor: Actor) -> None:
        if actor not in self._strays:
            self.excused.update(self._asked[actor])


class _Parking:
    def __init__(self, steps: Steps, name: str, port: Any) -> None:
        self._steps = steps
        self._name = name
        self._port = port

    def __getattr__(self, attribute: str) -> Any:
        operation = getattr(self._port, attribute)
        steps, name = self._steps, f"{self._name}.{attribute}"

        def call(*given: Any, **named: Any) -> Any:
            steps.park()
            try:
                answer = operation(*given, **named)
            except DependencyUnavailable:
                if name == "cache.find":
                    steps.finds_nothing()
                raise
            if name == "cache.keep":
                steps.keeps()
            steps.park()
            return answer

        return call


class TrapCrawl(DeepCrawlWorld):
    """One crawl of the site with `workers` parallel page steps, like the machine's Map."""

    def __init__(
        self,
        site: TrapSite,
        steps: Steps,
        *,
        workers: int,
        frontier: Callable[..., Frontier] = Frontier,
    ) -> None:
        """Create a crawl; tests pass a faulty `frontier`."""
        super().__init__({})
        self.site = site
        self.steps = steps
        self.requests: Counter[str] = Counter()
        """Names of pages → number of requests."""
        store = steps.wrap("frontier", self.frontier_store())
        self.frontier = frontier(store=store, clock=self.clock)
        self.extract = extract_once
        self.keeps_warm = False
        """Whether one process takes all page steps and caches robots.txt."""
        self._warm: PageStep | None = None
        self.twice = 0.0
        """Probability that a page step is invoked twice."""
        self._workers = workers

    def frontier_store(self) -> FrontierStore:
        """Return the store of the crawl's frontier."""
        return FakeFrontierStore()

    def direct(self) -> Fetcher:
        """Return a fetcher of the site."""
        return SiteFetcher(self.site, self.clock, self._ask_for)

    def _ask_for(self, name: str) -> None:
        if name != "/robots.txt":
            self.requests[name] += 1
            self.steps.asks(name)

    def crawl(self, **given: Any) -> DeepCrawlView:
        """Submit a crawl, run it until it has ended, and return it."""
        ref = self.ask(**{"max_depth": 100, "max_pages": 1000, **given})
        for _ in range(_RUNS):
            self.deliver()
            begun = list(self.executions.started.values())[-1]
            end = self._execute(dict(begun))
            if end is None and self.job(ref).status in TERMINAL:
                view = self.deep().get(TENANT, ref.job_id)
                assert view is not None
                return view
            self._recover(ref, end)
        raise AssertionError(f"it never ends: {self.job(ref)}")

    def rows(self, view: DeepCrawlView) -> list[FrontierPage]:
        """Return all pages in the crawl's frontier."""
        ref = CrawlRef(TENANT, view.job_id)
        return list(self.frontier.pages(ref, None, None, 10_000).pages)

    def _recover(self, ref: JobRef, end: End | None) -> None:
        match end:
            case End.PAUSED:
                self.control().move(ref, Transition.PAUSE)
                self.control().move(ref, Transition.RESUME)
            case End.LOST:
                self.lose_execution()
            case None:
                assert self.job(ref).status is JobStatus.PENDING, "the execution left its job"

    def _execute(self, state: dict[str, Any]) -> End | None:
        """Run an execution; return its early end, or None if it ended normally."""
        for _ in range(_STEPS):
            taken, end = self._take(state)
            if taken is None:
                return end
            state = taken.state
            if end is not None:
                return end
            if taken.block is not None:
                if end := self._crawl(taken.block):
                    return end
            elif state["action"] == "stop":
                return None
            else:
                self.clock.now = max(self.clock.now, parse_stamp(state["until"]))
                self.steps.move_a_stray()
        raise AssertionError("the execution never ends")

    def _take(self, state: dict[str, Any]) -> tuple[Taken | None, End | None]:
        """Take a step and retry it if it dies; the execution is lost after _TAKES tries."""
        answers: list[Taken] = []

        def take() -> None:
            driving = self.driving(self.steps.wrap)
            answers.append(driving.take(state, lambda: self.remaining))

        for tries in range(_TAKES):
            if tries:
                self.clock.advance(self.steps.random.uniform(0, min(2.0**tries, 30.0)))
            actor = self.steps.begin(_TAKE, take)
            while not actor.ended:
                if end := self.steps.move(actor):
                    self.steps.abandon([] if actor.ended else [actor])
                    return None, end
            if answers:
                return answers[-1], None
        return None, End.LOST

    def _crawl(self, block: PageBlock) -> End | None:
        """Crawl the pages of a block; each page step may die separately."""
        random = self.steps.random
        doubled = [page for page in block.pages if random.random() < self.twice]
        waiting = [*block.pages, *doubled]
        running: list[Actor] = []
        while waiting or running:
            self.steps.move_a_stray()
            while waiting and len(running) < self._workers:
                page = waiting.pop(0)
                running.append(self.steps.begin(page.key, self._page(block, page)))
            actor = random.choice(running)
            end = self.steps.move(actor)
            if actor.ended:
                running.remove(actor)
            if end is not None:
                self.steps.abandon(running)
                return end
        return None

    def _page(self, block: PageBlock, page: FrontierPage) -> Callable[[], None]:
        step = self._warm or self.page_step(self.steps.wrap)
        if self.keeps_warm:
            self._warm = step
        driver = self._driver(self.steps.wrap)

        def crawl() -> None:
            with suppress(LeaseLost):  # a block checks its claim before each page
                driver.held(block.turn)
                step(block, page, lambda: self.remaining, nullcontext())

        return crawl


Make = Callable[..., TrapCrawl]


@contextmanager
def crawls_of(site: TrapSite, seed: int = 0) -> Iterator[Make]:
    """Yield a function that creates crawls of the site: `make(workers=8)`."""
    made: list[TrapCrawl] = []
    with ThreadPoolExecutor(_THREADS) as threads:

        def make(**given: Any) -> TrapCrawl:
            made.append(TrapCrawl(site, Steps(seed, threads), **given))
            return made[-1]

        try:
            yield make
        finally:
            for crawl in made:
                crawl.steps.end_all()


def violations(crawl: TrapCrawl, view: DeepCrawlView, asked: Collection[str]) -> list[str]:
    """Return how a crawl differs from one request for each of these pages.

    A page that responds with 429 or 5xx is requested TRIES times. One more request is excused by a
    step that died between its request and the storing of the response.
    """
    found = [f"{name} is missing" for name in sorted(set(asked) - set(crawl.requests))]
    found += [f"{name} is asked for" for name in sorted(set(crawl.requests) - set(asked))]
    had = 0
    for name, times in sorted(crawl.requests.items()):
        node = crawl.site.node(name)
        had += node is not None and node.is_page
        tries = TRIES if node is not None and node.status in {429, 500} else 1
        excused = crawl.steps.excused[name]
        if times > tries + excused or (not crawl.steps.is_faulty and times < tries):
            found.append(f"{name}: {times} requests, {excused} excused")
    rows = crawl.rows(view)
    states = Counter(page.state for page in rows)
    counted = (view.pages_crawled, view.pages_failed, view.pages_discovered)
    if counted != (states[PageState.CRAWLED], states[PageState.FAILED], len(rows)):
        found.append(f"{counted} are counted of {states}")
    if view.pages_crawled != had:
        found.append(f"{view.pages_crawled} pages are counted, {had} were had")
    if states[PageState.OPEN] or states[PageState.FETCHED]:
        found.append("pages are left open")
    return found

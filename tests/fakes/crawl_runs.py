"""Websites as graphs, and crawls of them by workers that crash, are late or overtake each other."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Final

from spinneret.kernel.errors import LeaseLost
from spinneret.web.exploring.frontier.changes import FrontierTransaction
from spinneret.web.exploring.frontier.models import (
    Batch,
    CrawlRef,
    Deferred,
    Ended,
    Failed,
    Fetched,
    FetchOutcome,
    FoundLink,
    FrontierPage,
    FrontierWait,
    PageLease,
    PageState,
    Plan,
    RedirectRefused,
)
from spinneret.web.exploring.frontier.ports import FrontierStore
from spinneret.web.exploring.frontier.service import Frontier
from spinneret.web.fetching.urls import parse_url
from tests.fakes.crashes import Crash
from tests.fakes.exploring import FakeFrontierStore
from tests.fakes.time import HandClock

REF: Final = CrawlRef(tenant="acme", crawl_id="job_1")
SITE: Final = "https://site.example"
LEASE: Final = timedelta(seconds=60)
_STEPS_MAX: Final = 5000


@dataclass(frozen=True)
class Node:
    """One page; its links are the numbers of other pages."""

    links: tuple[int, ...] = ()
    redirect: int | None = None
    content: int | None = None
    """Pages with the same content are equal: all have the links of the first of them."""
    fails: bool = False
    hiccups: int = 0
    """Number of requests that fail before one succeeds."""
    words: str = ""


@dataclass
class Website:
    """A site that answers requests and records them."""

    nodes: Sequence[Node]
    requests: list[int] = field(default_factory=list)

    def url(self, number: int) -> str:
        return f"{SITE}/p{number}{self.nodes[number].words}"

    def number(self, url: str) -> int:
        return int(url.rpartition("/p")[2].partition("-")[0])

    def links(self, number: int) -> tuple[int, ...]:
        """Return the links of a page; equal pages have the links of the first of them."""
        content = self.nodes[number].content
        if content is None:
            return self.nodes[number].links
        return next(node.links for node in self.nodes if node.content == content)

    def request(self, number: int, clock: HandClock) -> FetchOutcome | int:
        """Return the outcome of a request, or the page to which it is redirected."""
        node = self.nodes[number]
        times = self.requests.count(number)
        self.requests.append(number)
        if times < node.hiccups:
            until = clock() + timedelta(seconds=5)
            return Deferred(until=until, error_code="HTTP_ERROR", is_charged=True)
        if node.redirect is not None:
            return node.redirect
        if node.fails:
            return Failed(error_code="HTTP_ERROR", status_code=404)
        return Fetched(
            links=tuple(FoundLink(url=self.url(to)) for to in self.links(number)),
            content_hash=None if node.content is None else f"content-{node.content}",
            final_url=self.url(number),
        )


@dataclass
class Faults:
    """Probability of each fault, whenever it can occur."""

    worker_dies: float = 0.0
    driver_dies: float = 0.0
    recorded_twice: float = 0.0
    overtaken: float = 0.0
    """Probability that another worker does all its work between a worker's reads and its write."""
    claimed_twice: float = 0.0


class CrawlRun:
    """One crawl, run to its end; the same seed repeats the same run."""

    def __init__(
        self,
        nodes: Sequence[Node],
        plan: Plan,
        faults: Faults | None = None,
        seed: int = 0,
        store: FrontierStore | None = None,
        ref: CrawlRef = REF,
    ) -> None:
        """Prepare the run; faults at writes need the fake store, which is the default."""
        self.site = Website(nodes)
        self.ref = ref
        self.store = FakeFrontierStore() if store is None else store
        self.clock = HandClock()
        self.frontier = Frontier(store=self.store, clock=self.clock)
        self._plan = plan
        self._faults = faults or Faults()
        self._random = Random(seed)
        self._fence = 1
        self._owners = 0
        self._idle: list[Callable[[], None]] = []
        self._driving = False
        if isinstance(self.store, FakeFrontierStore):
            self.store.before_commit = self._before
            self.store.after_commit = self._after

    def run(self) -> Ended:
        """Drive the crawl until there is no next batch; return its end."""
        for _ in range(_STEPS_MAX):
            try:
                step = self._drive()
            except Crash:
                self._fence += 1
                continue
            match step:
                case Ended():
                    return step
                case FrontierWait(until=until):
                    self.clock.now = max(self.clock.now, until)
                case Batch(keys=keys):
                    self._work(keys)
        raise AssertionError("the crawl doesn't end")

    def _drive(self) -> Batch | FrontierWait | Ended:
        self._driving = True
        try:
            if self.store.crawl(self.ref) is None or self._random.random() < 0.2:
                self.frontier.begin(self.ref, self._plan, [self.site.url(0)], self._fence)
            if self._fence > 1 and self._random.random() < 0.2:
                self._outdated_driver()
            return self.frontier.next_batch(self.ref, self._fence)
        finally:
            self._driving = False

    def _outdated_driver(self) -> None:
        crawl = self.store.crawl(self.ref)
        if crawl is None or crawl.fence < self._fence:
            return
        try:
            self.frontier.next_batch(self.ref, self._fence - 1)
        except LeaseLost:
            return
        raise AssertionError("an outdated driver continued")

    # ------------------------------------------------------------ Workers

    def _work(self, keys: Sequence[str]) -> None:
        tasks = list(keys)
        tasks += [key for key in keys if self._happens(self._faults.claimed_twice)]
        self._random.shuffle(tasks)
        self._idle = [lambda key=key: self._visit(key) for key in tasks]  # type: ignore[misc]  # late
        while self._idle:
            self._idle.pop()()

    def _visit(self, key: str) -> None:
        self._owners += 1
        owner = f"worker-{self._owners}"
        try:
            visit = self.frontier.claim(self.ref, key, owner, self.clock() + LEASE)
            if visit is None:
                return
            self._may_die()
            outcome = self._fetch(visit)
            self._may_die()
            self.frontier.record(visit, outcome)
            if self._happens(self._faults.recorded_twice):
                self.frontier.record(visit, outcome)
        except (Crash, LeaseLost):
            return

    def _fetch(self, visit: PageLease) -> FetchOutcome:
        gate = self.frontier.redirects(visit)
        number = self.site.number(visit.page.url)
        while True:
            answer = self.site.request(number, self.clock)
            self._may_die()
            if not isinstance(answer, int):
                return answer
            try:
                gate(parse_url(self.site.url(answer)))
            except RedirectRefused as refused:
                return refused.outcome
            number = answer

    # ------------------------------------------------------------ Faults

    def _happens(self, chance: float) -> bool:
        return chance > 0 and self._random.random() < chance

    def _may_die(self) -> None:
        if self._happens(self._faults.worker_dies):
            raise Crash

    def _before(self, change: FrontierTransaction) -> None:
        if self._driving:
            if self._happens(self._faults.driver_dies):
                raise Crash
        elif self._idle and self._happens(self._faults.overtaken):
            self._idle.pop()()

    def _after(self, change: FrontierTransaction) -> None:
        chance = self._faults.driver_dies if self._driving else self._faults.worker_dies
        if self._happens(chance):
            raise Crash

    # ------------------------------------------------------------ Results

    def pages(self) -> list[FrontierPage]:
        """Return all pages of the frontier."""
        return list(self.frontier.pages(self.ref, None, None, 10_000).pages)

    def in_order(self) -> list[int]:
        """Return the numbers of the pages that batches took, in the order of the batches."""
        taken = [page for page in self.pages() if page.batch and not self._is_alias(page)]
        taken.sort(key=lambda page: (page.batch, page.position))
        return [self.site.number(page.url) for page in taken]

    def _is_alias(self, page: FrontierPage) -> bool:
        return page.state is PageState.DUPLICATE and page.fence == 0


def reached(
    nodes: Sequence[Node], max_depth: int, accepts: Callable[[int], bool] = lambda _: True
) -> set[int]:
    """Return all pages within `max_depth` links, found by shortest paths alone (the oracle).

    A redirect doesn't count as a link. The links of equal pages count from the nearest of them.
    """
    site = Website(nodes)
    depths = {0: 0}
    queue = deque([0])
    while queue:
        number = queue.popleft()
        node, depth = nodes[number], depths[number]
        if node.redirect is not None:
            nexts = [(node.redirect, depth)]
        elif node.fails:
            nexts = []
        else:
            nexts = [(to, depth + 1) for to in site.links(number) if accepts(to)]
        for to, distance in nexts:
            if distance <= max_depth and distance < depths.get(to, max_depth + 1):
                depths[to] = distance
                queue.append(to)
    return set(depths)

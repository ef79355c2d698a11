"""Deep crawls over fakes: a website, the worker that starts executions, and the machine's steps."""

from collections.abc import Mapping
from contextlib import nullcontext
from datetime import timedelta
from typing import Any, Final

from spinneret.content.extraction.models import Content, ExtractionStrategy, Hyperlink
from spinneret.crawl.deep.driving import DeepCrawls
from spinneret.crawl.deep.models import DeepCrawlRequest
from spinneret.crawl.deep.pages import PageStep
from spinneret.crawl.deep.service import DeepCrawlService
from spinneret.crawl.kinds import DEEP_CRAWL
from spinneret.crawl.models import CrawlRequest
from spinneret.jobs.driven.driving import Driver
from spinneret.jobs.driven.ports import IsOver
from spinneret.jobs.driven.starting import Starter
from spinneret.jobs.models import JobRef, RequestKey
from spinneret.jobs.service import JobService, Submitted
from spinneret.jobs.worker import Worker
from spinneret.kernel import bounds
from spinneret.kernel.clock import parse_stamp
from spinneret.web.exploring.frontier.service import Frontier
from tests.factories import TENANT
from tests.fakes.crawling import CrawlWorld, Wrap
from tests.fakes.exploring import FakeFrontierStore
from tests.fakes.fetching import fetched_page
from tests.kinds import KINDS

HOST: Final = "https://site.example"
_STEPS: Final = 2000


class FakeSemaphore:
    """Implements Semaphore."""

    def __init__(self) -> None:
        self.holders: dict[str, dict[str, Any]] = {}

    def take(
        self,
        tenant: str,
        group: str,
        holder: str,
        now: Any,
        until: Any,
        most: int,
        is_over: IsOver | None = None,
    ) -> bool:
        holders = self.holders.setdefault(f"{tenant} {group}", {})
        others = {name: end for name, end in holders.items() if end > now and name != holder}
        if is_over is not None and len(others) >= most:
            others = {name: end for name, end in others.items() if not is_over(name)}
        if len(others) >= most:
            return False
        self.holders[f"{tenant} {group}"] = {**others, holder: until}
        return True

    def leave(self, tenant: str, group: str, holder: str) -> None:
        self.holders.setdefault(f"{tenant} {group}", {}).pop(holder, None)


class FakeExecutions:
    """Implements Executions; keeps the input states of executions."""

    def __init__(self) -> None:
        self.started: dict[str, Mapping[str, Any]] = {}

    def start(self, name: str, state: Mapping[str, Any]) -> None:
        assert len(name) <= 80
        assert self.started.setdefault(name, state) == state


class DeepCrawlWorld(CrawlWorld):
    """Deep crawls of a website whose pages list their links line by line."""

    def __init__(self, site: Mapping[str, list[str]]) -> None:
        super().__init__()
        self.frontier = Frontier(store=FakeFrontierStore(), clock=self.clock)
        self.slots, self.executions = FakeSemaphore(), FakeExecutions()
        self.at_once, self.segment_batches = 5, 80
        self.enabled, self.pages_max = True, bounds.CRAWL_PAGES_MAX
        self.extract = _linked
        for path, links in site.items():
            lines = [f"Page {path}", *(f"link: {HOST}{link}" for link in links)]
            self.pages[HOST + path] = fetched_page(HOST + path, "\n".join(lines))

    def deep(self) -> DeepCrawlService:
        """Return the service that the routes call."""
        jobs = JobService(
            store=self.store,
            queue=self.queue,
            kinds=KINDS,
            clock=self.clock,
            new_id=self.new_id,
        )
        return DeepCrawlService(
            jobs=jobs,
            frontier=self.frontier,
            checks=self.checks(),
            webhooks=self.webhooks,
            documents=self.documents,
            parts=self.parts,
            enabled=self.enabled,
            pages_max=self.pages_max,
        )

    def submit_deep(
        self, tenant: str, request: CrawlRequest, max_depth: int, key: RequestKey | None
    ) -> Submitted:
        """See CrawlService."""
        return self.deep().submit_plain(tenant, request, max_depth, key)

    def ask(self, path: str = "/", **given: Any) -> JobRef:
        """Submit a deep crawl."""
        request = DeepCrawlRequest(url=HOST + path, **given)
        submitted = self.deep().submit(TENANT, request, None)
        return JobRef(tenant=TENANT, job_id=submitted.reply.body["job_id"])

    def driving(self, wrap: Wrap = lambda _, port: port) -> DeepCrawls:
        return DeepCrawls(
            driver=self._driver(wrap),
            frontier=self.frontier,
            slots=self.slots,
            clock=self.clock,
            at_once=self.at_once,
            segment_batches=self.segment_batches,
        )

    def worker(self, wrap: Wrap = lambda _, port: port) -> Worker:
        starter = Starter(executions=self.executions, prepare=self.driving(wrap).prepare)
        return Worker(
            store=wrap("store", self.store),
            queue=self.queue,
            kinds=KINDS,
            handlers={**super().worker(wrap).handlers, DEEP_CRAWL: starter},
            clock=self.clock,
            random=lambda: 0.5,
            new_owner=lambda: self.new_id("owner"),
        )

    def deliver(self) -> None:
        """Deliver every queued message to a worker, which starts executions."""
        for sent in self.queue.take():
            self.clock.advance(sent.delay)
            self.worker().run(sent.ref, lambda: self.remaining)

    def execute(self, steps: int = _STEPS) -> None:
        """Run the newest execution to its end, or lose it after `steps` steps."""
        state: dict[str, Any] = dict(list(self.executions.started.values())[-1])
        for _ in range(steps):
            taken = self.driving().take(state, lambda: self.remaining)
            state = taken.state
            if taken.block is not None:
                for page in taken.block.pages:
                    self.page_step()(taken.block, page, lambda: self.remaining, nullcontext())
            elif state["action"] == "stop":
                return
            else:
                self.clock.now = max(self.clock.now, parse_stamp(state["until"]))
        assert steps < _STEPS, "the execution goes on for ever"

    def page_step(self, wrap: Wrap = lambda _, port: port) -> PageStep:
        """Return the step of a new process, which crawls one page."""
        return PageStep(
            frontier=self.frontier,
            pipeline=self.pipeline(wrap),
            clock=self.clock,
            new_owner=lambda: self.new_id("owner"),
            product_token="Spinneret",
        )

    def lose_execution(self) -> None:
        """Let the lease of an execution end, and let the sweeper reclaim its job."""
        self.clock.advance(timedelta(hours=1).total_seconds())
        self.sweeper().sweep()

    def asked(self) -> list[str]:
        """Return the paths of the fetched pages, in order."""
        return [hop.removeprefix(HOST) for hop in self.hops if not hop.endswith("/robots.txt")]

    def _driver(self, wrap: Wrap = lambda _, port: port) -> Driver:
        return Driver(
            store=wrap("store", self.store),
            queue=self.queue,
            kinds=KINDS,
            clock=self.clock,
            random=lambda: 0.5,
        )


def _linked(
    text: str, media_type: str, url: str, strategy: ExtractionStrategy, *, targets: bool
) -> Content:
    lines = text.split("\n")
    links = [line.removeprefix("link: ") for line in lines if line.startswith("link: ")]
    hyperlinks = tuple(Hyperlink(url=link) for link in links)
    return Content(title=lines[0], markdown=text, language="en", hyperlinks=hyperlinks)

"""Crawls over fakes: submit, work, sweep and search."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spinneret.content.collections.service import CollectionService
from spinneret.content.documents.service import Indexer
from spinneret.content.extraction.models import Content, ExtractionStrategy
from spinneret.content.library.kinds import TAG
from spinneret.content.library.pipeline import TagPipeline
from spinneret.content.search.models import Filters, Hit, Query
from spinneret.content.search.service import SearchService
from spinneret.content.tags.service import TagService
from spinneret.crawl.batches import BatchHandler
from spinneret.crawl.checks import CrawlChecks
from spinneret.crawl.inbox.handler import FileHandler
from spinneret.crawl.kinds import CRAWL_BATCH, CRAWL_FILE, PAGE_KINDS
from spinneret.crawl.known import KnownPages
from spinneret.crawl.limits import FETCH_KEPT_SECONDS
from spinneret.crawl.models import CrawlRequest
from spinneret.crawl.pages import CrawlPages
from spinneret.crawl.pipeline import CrawlPipeline, Extract
from spinneret.crawl.reading import has_document
from spinneret.crawl.rendering import PageRenderer
from spinneret.crawl.service import CrawlService
from spinneret.crawl.tagging import DuplicateTags
from spinneret.crawl.url_leases import UrlLeases
from spinneret.events.webhooks.targets import UrlTarget, target_text
from spinneret.jobs import limits
from spinneret.jobs.children import Children
from spinneret.jobs.control import JobControl
from spinneret.jobs.live.waiting import JobWaits
from spinneret.jobs.models import Job, JobRef, RequestKey
from spinneret.jobs.parents import ParentEnds, ParentRecheck
from spinneret.jobs.ports import JobStore
from spinneret.jobs.publishing import PublishingJobStore
from spinneret.jobs.rules import TERMINAL
from spinneret.jobs.service import JobService, Submitted
from spinneret.jobs.sweeper import Sweeper
from spinneret.jobs.worker import Worker
from spinneret.kernel.caller import current_caller
from spinneret.kernel.errors import DomainError
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.polite_browser import PoliteBrowser
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.robots_gate import RobotsGate
from tests.contract.named import collections as collection_rows
from tests.contract.named import tags as tag_rows
from tests.fakes.browser import FakeBrowser
from tests.fakes.configs import Configs
from tests.fakes.documents import FakeContentStore, FakeDocumentStore
from tests.fakes.fetch_cache import FakeFetchCache
from tests.fakes.fetching import FakeFetcher
from tests.fakes.hosts import Hosts
from tests.fakes.inbox import FakeInboxStore
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.named import FakeNamedStore
from tests.fakes.page_parts import FakePartStore
from tests.fakes.politeness import FakeProgressStore, FakeRobotsStore
from tests.fakes.proxies import Proxies
from tests.fakes.search import FakeChunkIndex, FakeEmbedder
from tests.fakes.time import HandClock, plenty
from tests.kinds import KINDS, kinds_of

Wrap = Callable[[str, Any], Any]
_PASSES = 100  # passes of the sweeper; no job needs so many


class FakeWebhooks:
    """Webhook service whose only targets are the URLs that submissions name."""

    def targets(
        self, tenant: str, webhook_url: str | None, webhook_headers: Mapping[str, str]
    ) -> tuple[str, ...]:
        """See WebhookService."""
        return () if webhook_url is None else (target_text(UrlTarget(url=webhook_url)),)


class CrawlWorld:
    """The services of crawls over fakes, which are the attributes; `wrap` may replace each port."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.clock = HandClock()
        self.kinds = KINDS
        self.store = FakeJobStore()
        self.queue = FakeJobQueue()
        self.documents = FakeDocumentStore(self.store)
        self.contents = FakeContentStore()
        self.parts = FakePartStore(self.contents)
        self.cache = FakeFetchCache()
        self.inbox = FakeInboxStore()
        self.embedder = FakeEmbedder(max_input_tokens=202, max_batch=2)
        self.index = FakeChunkIndex()
        self.pages: dict[str, FetchedPage | DomainError] = {}
        self.hosts = Hosts(self.clock)
        self.robots = FakeRobotsStore()
        self.progress = FakeProgressStore()
        self.proxies = Proxies(self.clock, self.pages)
        self.configs = Configs(self.clock, self.proxies.service)
        self.collections = CollectionService(
            store=FakeNamedStore(collection_rows.page_of), clock=self.clock, new_id=self.new_id
        )
        self.tags = TagService(
            store=FakeNamedStore(tag_rows.page_of), clock=self.clock, new_id=self.new_id
        )
        self.webhooks: Any = FakeWebhooks()
        self.browser = FakeBrowser({})
        self.hops: list[str] = []
        """Every URL that any worker requested."""
        self.extract: Extract = plain_content
        self.remaining = 60.0
        self.kept_seconds = float(FETCH_KEPT_SECONDS)
        self.sleep: Callable[[float], None] = self.clock.advance

    def ending_store(self, wrap: Wrap = lambda _, port: port) -> JobStore:
        """Return the store, wired as deployed: the end of the last child ends its parent."""
        store = PublishingJobStore(wrap("store", self.store))
        store.listen(ParentEnds(store=store, clock=self.clock))
        return store

    def tag_ids(self, tenant: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return the ids of the tags with these names; create missing tags."""
        return tuple(each.id for each in self.tags.named(tenant, names))

    def new_id(self, prefix: str) -> str:
        """Return the next id, such as `job_1` or `batch_2`."""
        return f"{prefix}_{next(self._numbers)}"

    def submit_deep(
        self, _tenant: str, _request: CrawlRequest, _max_depth: int, _key: RequestKey | None
    ) -> Submitted:
        """Raise AssertionError: only the world of deep crawls can submit one."""
        raise AssertionError("there are no deep crawls here")

    def crawls(self, wrap: Wrap = lambda _, port: port) -> CrawlService:
        """Return the service of the crawl API."""
        return CrawlService(
            jobs=replace(self.job_service(wrap), result_exists=self.result_exists),
            checks=self.checks(),
            webhooks=self.webhooks,
            documents=self.documents,
            parts=self.parts,
            tagging=self.tagging(wrap),
            submit_deep=self.submit_deep,
            begin_batch=lambda ref: self.worker(wrap).run(ref, lambda: self.remaining),
        )

    def result_exists(self, job: Job) -> bool:
        """Return whether a crawl's document still exists."""
        return has_document(job, self.documents)

    def checks(self) -> CrawlChecks:
        """Return the checks of submissions."""
        return CrawlChecks(
            policy=AddressPolicy(),
            hosts=self.hosts.service,
            proxies=self.proxies.service,
            configs=self.configs.service,
            collections=self.collections,
            tags=self.tags,
        )

    def tagging(self, wrap: Wrap = lambda _, port: port) -> DuplicateTags:
        """Return the service that adds tags to the work of existing jobs."""
        return DuplicateTags(
            jobs=self.job_service(wrap), documents=wrap("documents", self.documents)
        )

    def job_service(self, wrap: Wrap = lambda _, port: port) -> JobService:
        """Return the service that submits jobs of any kind."""
        return JobService(
            store=wrap("store", self.store),
            queue=wrap("queue", self.queue),
            kinds=self.kinds,
            clock=self.clock,
            new_id=self.new_id,
            caller=current_caller,
        )

    def control(self, wrap: Wrap = lambda _, port: port) -> JobControl:
        """Return the service of a tenant's operations on its jobs."""
        return JobControl(
            store=self.ending_store(wrap),
            queue=wrap("queue", self.queue),
            kinds=self.kinds,
            clock=self.clock,
        )

    def waits(self) -> JobWaits:
        """Return the service by which requests wait for jobs."""
        return JobWaits(store=self.store, clock=self.clock, sleep=self.pause)

    def pause(self, seconds: float) -> None:
        """Call the current `sleep`, which a test may have replaced."""
        self.sleep(seconds)

    def direct(self) -> Fetcher:
        """Return a fetcher that uses no proxy."""
        direct = FakeFetcher(self.pages)
        direct.hops = self.hops
        return direct

    def pipeline(self, wrap: Wrap = lambda _, port: port) -> CrawlPipeline:
        """Return the pipeline of a new process, which crawls one page."""
        indexer = Indexer(
            documents=wrap("documents", self.documents),
            contents=wrap("contents", self.contents),
            embedder=wrap("embedder", self.embedder),
            writer=wrap("index", self.index),
            clock=self.clock,
        )
        fetcher = PoliteFetcher(
            fetcher=self.proxies.fetcher(wrap("fetcher", self.direct())),
            hosts=self.hosts.service,
            pace=self.hosts.pace,
            robots=RobotsGate(
                store=wrap("robots", self.robots), product_token="Spinneret", clock=self.clock
            ),
            progress=wrap("progress", self.progress),
            clock=self.clock,
            sleep=self.sleep,
        )
        pages = CrawlPages(
            fetcher=fetcher,
            cache=wrap("cache", self.cache),
            seal=self.configs.seal,
            known=KnownPages(
                contents=wrap("contents", self.contents),
                parts=wrap("parts", self.parts),
            ).find,
            clock=self.clock,
            kept_seconds=self.kept_seconds,
            renderer=PageRenderer(
                browser=PoliteBrowser(fetcher=fetcher, browser=wrap("browser", self.browser))
            ),
        )
        return CrawlPipeline(
            urls=UrlLeases(documents=wrap("documents", self.documents), clock=self.clock),
            pages=pages,
            extract=self.extract,
            parts=wrap("parts", self.parts),
            indexer=indexer,
        )

    def worker(self, wrap: Wrap = lambda _, port: port) -> Worker:
        """Return the worker of a new process."""
        store = self.ending_store(wrap)
        children = Children(
            store=store,
            queue=wrap("queue", self.queue),
            kinds=self.kinds,
            clock=self.clock,
            new_id=self.new_id,
            move=self.control(wrap).move,
            result_exists=self.result_exists,
        )
        return Worker(
            store=store,
            queue=wrap("queue", self.queue),
            kinds=self.kinds,
            handlers={
                **dict.fromkeys(PAGE_KINDS, self.pipeline(wrap)),
                TAG: TagPipeline(
                    documents=wrap("documents", self.documents),
                    index=wrap("index", self.index),
                    clock=self.clock,
                ),
                CRAWL_BATCH: BatchHandler(children),
                CRAWL_FILE: FileHandler(
                    store=wrap("inbox", self.inbox),
                    checks=self.checks(),
                    children=children,
                    tagging=self.tagging(wrap),
                    clock=self.clock,
                ),
            },
            clock=self.clock,
            random=lambda: 0.5,
            new_owner=lambda: f"owner-{next(self._numbers)}",
        )

    def sweeper(self, wrap: Wrap = lambda _, port: port) -> Sweeper:
        """Return the sweeper of a new process."""
        store = self.ending_store(wrap)
        return Sweeper(
            store=store,
            queue=wrap("queue", self.queue),
            kinds=kinds_of(self.store, self.kinds),
            clock=self.clock,
            look_at_parent=ParentRecheck(
                store=store,
                ends=ParentEnds(store=store, clock=self.clock),
                control=self.control(),
                clock=self.clock,
            ),
        )

    def submit(
        self,
        url: str,
        tenant: str = "acme",
        *,
        force: bool = False,
        proxy: str | None = None,
        key: RequestKey | None = None,
        **given: Any,
    ) -> JobRef:
        """Submit one page; return the job that crawls it."""
        request = CrawlRequest(url=url, force=force, proxy_config_id=proxy, **given)
        submitted = self.crawls().submit(tenant, request, key)
        return JobRef(tenant=tenant, job_id=submitted.reply.body["job_id"])

    def run(self, ref: JobRef, wrap: Wrap = lambda _, port: port) -> Job:
        """Run a job once, as its message would."""
        self.worker(wrap).run(ref, lambda: self.remaining)
        return self.job(ref)

    def settle(self, ref: JobRef) -> Job:
        """Deliver messages and sweep, while time passes, until the job is finished."""
        for _ in range(_PASSES):
            for sent in self.queue.take():
                self.clock.advance(sent.delay)
                self.run(sent.ref)
            if self.job(ref).status in TERMINAL:
                return self.job(ref)
            self.clock.advance(limits.RESEND_GRACE_SECONDS)
            self.sweeper().sweep()
        raise AssertionError(f"never finished: {self.job(ref)}")

    def job(self, ref: JobRef) -> Job:
        """Return the stored job."""
        found = self.store.get(ref)
        assert found is not None
        return found

    def search(
        self, text: str, tenant: str = "acme", filters: Filters = Filters()
    ) -> tuple[Hit, ...]:
        """Return the hits of a search, up to the largest limit."""
        service = SearchService(embedder=FakeEmbedder(), index=self.index, documents=self.documents)
        return service.search(
            Query(tenant=tenant, text=text, filters=filters, limit=100), plenty
        ).hits


def plain_content(
    text: str, media_type: str, url: str, strategy: ExtractionStrategy, *, targets: bool
) -> Content:
    """Extract a page that is its own Markdown; its first line is the title."""
    return Content(title=text.partition("\n")[0], markdown=text, language="en")


def long_page(word: str, words: int = 700) -> str:
    """Return a text of several chunks that all contain `word`."""
    return " ".join(f"{word} {n}." for n in range(words // 2))

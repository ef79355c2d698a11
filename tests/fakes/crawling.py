"""The world of crawls on fakes: submit, work, sweep, search."""

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
_PASSES = 100  # of the sweeper: more than any job lives


class FakeWebhooks:
    """Addresses the ends of jobs to the URLs that their submissions name."""

    def targets(
        self, tenant: str, webhook_url: str | None, webhook_headers: Mapping[str, str]
    ) -> tuple[str, ...]:
        """See WebhookService."""
        return () if webhook_url is None else (target_text(UrlTarget(url=webhook_url)),)


class CrawlWorld:
    """`wrap` sees every port on its way to the code under test; the attributes are the fakes."""

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
        """Every URL that was asked for, by any worker."""
        self.extract: Extract = plain_content
        self.remaining = 60.0
        self.kept_seconds = float(FETCH_KEPT_SECONDS)
        self.sleep: Callable[[float], None] = self.clock.advance

    def ending_store(self, wrap: Wrap = lambda _, port: port) -> JobStore:
        """As wired: the last child's end ends its parent."""
        store = PublishingJobStore(wrap("store", self.store))
        store.listen(ParentEnds(store=store, clock=self.clock))
        return store

    def tag_ids(self, tenant: str, names: Sequence[str]) -> tuple[str, ...]:
        """Ids of the tags of these names."""
        return tuple(each.id for each in self.tags.named(tenant, names))

    def new_id(self, prefix: str) -> str:
        """`job_1`, `batch_2` …"""
        return f"{prefix}_{next(self._numbers)}"

    def submit_deep(
        self, _tenant: str, _request: CrawlRequest, _max_depth: int, _key: RequestKey | None
    ) -> Submitted:
        """What a config with a depth makes of a crawl; a world of deep crawls does it."""
        raise AssertionError("there are no deep crawls here")

    def crawls(self, wrap: Wrap = lambda _, port: port) -> CrawlService:
        """The use cases of the crawl API."""
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
        """Whether a crawl's document is still there."""
        return has_document(job, self.documents)

    def checks(self) -> CrawlChecks:
        """What a worker checks."""
        return CrawlChecks(
            policy=AddressPolicy(),
            hosts=self.hosts.service,
            proxies=self.proxies.service,
            configs=self.configs.service,
            collections=self.collections,
            tags=self.tags,
        )

    def tagging(self, wrap: Wrap = lambda _, port: port) -> DuplicateTags:
        """What adds tags to the work of existing jobs."""
        return DuplicateTags(
            jobs=self.job_service(wrap), documents=wrap("documents", self.documents)
        )

    def job_service(self, wrap: Wrap = lambda _, port: port) -> JobService:
        """Submission of whatever kind."""
        return JobService(
            store=wrap("store", self.store),
            queue=wrap("queue", self.queue),
            kinds=self.kinds,
            clock=self.clock,
            new_id=self.new_id,
            caller=current_caller,
        )

    def control(self, wrap: Wrap = lambda _, port: port) -> JobControl:
        """What the tenant does with jobs."""
        return JobControl(
            store=self.ending_store(wrap),
            queue=wrap("queue", self.queue),
            kinds=self.kinds,
            clock=self.clock,
        )

    def waits(self) -> JobWaits:
        """Of requests for jobs."""
        return JobWaits(store=self.store, clock=self.clock, sleep=self.pause)

    def pause(self, seconds: float) -> None:
        """Sleep as the test wants at the time."""
        self.sleep(seconds)

    def direct(self) -> Fetcher:
        """The web, without a proxy."""
        direct = FakeFetcher(self.pages)
        direct.hops = self.hops
        return direct

    def pipeline(self, wrap: Wrap = lambda _, port: port) -> CrawlPipeline:
        """What crawls one page, as a new process would have it."""
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
        """A fresh worker, as a new process would have it."""
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
        """A fresh sweeper."""
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
        """Submit one page and answer the job that does it."""
        request = CrawlRequest(url=url, force=force, proxy_config_id=proxy, **given)
        submitted = self.crawls().submit(tenant, request, key)
        return JobRef(tenant=tenant, job_id=submitted.reply.body["job_id"])

    def run(self, ref: JobRef, wrap: Wrap = lambda _, port: port) -> Job:
        """Run a job once, as its message would."""
        self.worker(wrap).run(ref, lambda: self.remaining)
        return self.job(ref)

    def settle(self, ref: JobRef) -> Job:
        """Deliver messages and sweep as time passes, until the job is finished."""
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
        """A job as it stands."""
        found = self.store.get(ref)
        assert found is not None
        return found

    def search(
        self, text: str, tenant: str = "acme", filters: Filters = Filters()
    ) -> tuple[Hit, ...]:
        """What a search shows, up to the largest limit."""
        service = SearchService(embedder=FakeEmbedder(), index=self.index, documents=self.documents)
        return service.search(
            Query(tenant=tenant, text=text, filters=filters, limit=100), plenty
        ).hits


def plain_content(
    text: str, media_type: str, url: str, strategy: ExtractionStrategy, *, targets: bool
) -> Content:
    """An extractor for pages that are their own markdown; the first line is the title."""
    return Content(title=text.partition("\n")[0], markdown=text, language="en")


def long_page(word: str, words: int = 700) -> str:
    """A text of several chunks, each of which holds `word`."""
    return " ".join(f"{word} {n}." for n in range(words // 2))

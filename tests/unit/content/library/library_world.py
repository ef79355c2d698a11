"""A tenant's documents on fakes: routes, worker and search."""

from collections.abc import Callable
from itertools import count
from typing import Any

from search.documents_routes import router
from spinneret.content.caches.service import CachedVectors, Caches
from spinneret.content.collections.service import CollectionService
from spinneret.content.documents.chunks import ChunkMaker
from spinneret.content.documents.models import Document
from spinneret.content.documents.service import Indexer
from spinneret.content.library.filling import IndexFiller
from spinneret.content.library.kinds import REBUILD, REBUILD_STAGE, REINDEX, UPLOAD
from spinneret.content.library.pipeline import RebuildPipeline, ReindexPipeline, UploadPipeline
from spinneret.content.library.rebuilding import STAGE, IndexRebuild, RebuildRequests
from spinneret.content.library.remaking import Reindexer
from spinneret.content.library.service import LibraryService
from spinneret.content.library.upkeep import DocumentMaintenance
from spinneret.content.search.models import Leg, Query
from spinneret.content.search.service import SearchService
from spinneret.content.tags.service import TagService
from spinneret.jobs.live.waiting import JobWaits
from spinneret.jobs.models import Job, JobRef
from spinneret.jobs.service import JobService
from spinneret.jobs.worker import Worker
from spinneret.kernel.paging import Page
from tests.factories import TENANT
from tests.fakes.caches import FakeCacheStore
from tests.fakes.documents import FakeContentStore, FakeDocumentStore, FakeIndexRecord
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.named import FakeNamedStore
from tests.fakes.search import FakeChunkIndex, FakeEmbedder
from tests.fakes.time import HandClock, plenty
from tests.fakes.upkeep import FakeDocumentScan, FakeIndexUpkeep
from tests.kinds import KINDS
from tests.unit.runtime.api import Answer
from tests.unit.served import Served

PATH = "/api/v1/documents"


class LibraryWorld:
    """Services around the documents of a stage, on fakes."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.jobs = FakeJobStore()
        self.queue = FakeJobQueue()
        self.documents = FakeDocumentStore(self.jobs)
        self.contents = FakeContentStore()
        self.embedder = FakeEmbedder(max_input_tokens=102)
        self.index = FakeChunkIndex()
        self.scan = FakeDocumentScan(self.documents)
        self.index_upkeep = FakeIndexUpkeep(self.index)
        self.cache_store = FakeCacheStore()
        self.caches = Caches(store=self.cache_store, clock=self.clock)
        self._numbers = count(1)
        self.collections = CollectionService(
            store=FakeNamedStore(lambda rows, after: Page(items=rows, after=after)),  # type: ignore[arg-type]  # of any row
            clock=self.clock,
            new_id=self.new_id,
        )
        self.tags = TagService(
            store=FakeNamedStore(lambda rows, after: Page(items=rows, after=after)),  # type: ignore[arg-type]  # of any row
            clock=self.clock,
            new_id=self.new_id,
        )
        self.job_service = JobService(
            store=self.jobs,
            queue=self.queue,
            kinds=KINDS,
            clock=self.clock,
            new_id=self.new_id,
        )
        self.library = LibraryService(
            documents=self.documents,
            contents=self.contents,
            index=self.index,
            collections=self.collections,
            tags=self.tags,
            jobs=self.job_service,
            waits=JobWaits(store=self.jobs, clock=self.clock, sleep=self.clock.advance),
            clock=self.clock,
        )
        self.served = Served(router, self.library)

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers):04}"

    def send(self, method: str, path: str = "", body: Any = None, **given: Any) -> Answer:
        """Send a request below `/api/v1/documents`."""
        return self.served.send(method, f"{PATH}{path}", body, **given)

    def indexer(self) -> Indexer:
        return Indexer(
            documents=self.documents,
            contents=self.contents,
            embedder=self.embedder,
            writer=self.index,
            clock=self.clock,
            known=CachedVectors(caches=self.caches),
        )

    def work(
        self, job_id: str, tenant: str = TENANT, remaining: Callable[[], float] = plenty
    ) -> Job:
        """Run a job as its message would, and return it."""
        indexer = self.indexer()
        worker = Worker(
            store=self.jobs,
            queue=self.queue,
            kinds=KINDS,
            handlers={
                UPLOAD: UploadPipeline(contents=self.contents, indexer=indexer),
                REINDEX: ReindexPipeline(
                    documents=self.documents, contents=self.contents, indexer=indexer
                ),
                REBUILD: RebuildPipeline(
                    documents=self.documents, remaker=self.remaker(), index=self.index
                ),
                REBUILD_STAGE: IndexRebuild(
                    scan=self.scan,
                    upkeep=self.index_upkeep,
                    filler=self.filler(),
                    record=FakeIndexRecord(self.documents),
                ),
            },
            clock=self.clock,
            random=lambda: 0.5,
            new_owner=lambda: self.new_id("owner"),
        )
        ref = JobRef(tenant=tenant, job_id=job_id)
        worker.run(ref, remaining)
        job = self.jobs.get(ref)
        assert job is not None
        return job

    def stored(
        self, content: str = "Spiders weave silk.", tenant: str = TENANT, **fields: Any
    ) -> Document:
        """Upload a document, run its job, and return the document."""
        self.clock.advance(1)
        answer = self.send("POST", "", {"content": content, **fields}, tenant=tenant)
        assert answer.status == 202, answer.body
        job = self.work(answer.body["job_id"], tenant)
        assert job.result is not None, job.last_error
        document = self.documents.get(tenant, job.result["document_id"])
        assert document is not None
        return document

    def remaker(self) -> Reindexer:
        """Return the reindexer as it is wired."""
        return Reindexer(
            documents=self.documents,
            contents=self.contents,
            chunks=ChunkMaker(embedder=self.embedder, known=CachedVectors(caches=self.caches)),
            index=self.index,
        )

    def filler(self) -> IndexFiller:
        """Return the filler of the index as it is wired."""
        return IndexFiller(remaker=self.remaker(), upkeep=self.index_upkeep)

    def rebuild(self, job_id: str | None = None, remaining: Callable[[], float] = plenty) -> Job:
        """Start or continue the stage's rebuild, and run its job once."""
        request = {} if job_id is None else {"job_id": job_id}
        shown = RebuildRequests(jobs=self.job_service)(request, plenty)
        return self.work(shown["job_id"], STAGE, remaining)

    def upkeep(self) -> DocumentMaintenance:
        """Return the maintenance of all documents, for a new pass."""
        return DocumentMaintenance(
            scan=self.scan,
            documents=self.documents,
            contents=self.contents,
            filler=self.filler(),
            index=self.index,
            upkeep=self.index_upkeep,
            record=FakeIndexRecord(self.documents),
            clock=self.clock,
            new_id=self.new_id,
        )

    def found(self, text: str = "silk", **given: Any) -> list[str]:
        """Return the ids of the documents that a keyword search finds."""
        service = SearchService(
            embedder=self.embedder,
            index=self.index,
            documents=self.documents,
            caches=self.caches,
            new_id=self.new_id,
        )
        query = Query(tenant=TENANT, text=text, legs=(Leg.KEYWORD,), **given)
        hits = service.search(query, plenty).hits
        return [hit.ranked.candidate.document_id for hit in hits]

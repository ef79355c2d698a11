"""An indexer on fakes."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from spinneret.content import limits
from spinneret.content.documents.models import Document
from spinneret.content.documents.service import DocumentDraft, Indexed, Indexer
from spinneret.content.extraction.models import Content
from spinneret.content.search.models import Query
from spinneret.content.search.service import SearchService
from spinneret.jobs.models import Lease
from spinneret.jobs.ports import Claimed, NewJob
from tests import factories
from tests.factories import TENANT
from tests.fakes.documents import FakeContentStore, FakeDocumentStore
from tests.fakes.jobs import FakeJobStore
from tests.fakes.search import FakeChunkIndex, FakeEmbedder
from tests.fakes.time import HandClock, plenty

URL = "https://site.example/page"


class IndexerWorld:
    """An indexer on fakes, under the lease of one running job."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.jobs = FakeJobStore()
        self.documents = FakeDocumentStore(self.jobs)
        self.contents = FakeContentStore()
        self.embedder = FakeEmbedder(max_input_tokens=202, max_batch=2)
        self.embed_batch = limits.EMBED_BATCH
        self.chunks = FakeChunkIndex()
        self.lease = self.claim("job_1")
        self.steps: list[tuple[str, int]] = []

    def claim(self, job_id: str) -> Lease:
        job = factories.job(id=job_id)
        self.jobs.submit(
            [NewJob(job=job)], [factories.event()], None, factories.reply(), self.clock()
        )
        claimed = self.jobs.claim(job.ref, "one", self.clock(), self.clock() + timedelta(days=1))
        assert isinstance(claimed, Claimed)
        return claimed.lease

    def index(
        self,
        content: Content | None = None,
        checkpoint: Callable[[str, int], None] | None = None,
        lease: Lease | None = None,
        **page: Any,
    ) -> Indexed:
        indexer = Indexer(
            documents=self.documents,
            contents=self.contents,
            embedder=self.embedder,
            writer=self.chunks,
            clock=self.clock,
            embed_batch=self.embed_batch,
        )
        values: dict[str, Any] = {
            "tenant": TENANT,
            "url": URL,
            "url_key": URL,
            "domain": "site.example",
            "content": content or factories.content(),
        }
        note = checkpoint or (lambda step, progress: self.steps.append((step, progress)))
        return indexer.index(DocumentDraft(**values | page), lease or self.lease, note, plenty)

    def shown(self, text: str = "silk", tenant: str = TENANT) -> list[str]:
        service = SearchService(
            embedder=FakeEmbedder(), index=self.chunks, documents=self.documents
        )
        hits = service.search(Query(tenant=tenant, text=text, limit=100), plenty).hits
        return [hit.chunk.text for hit in hits]

    @property
    def document(self) -> Document:
        [found] = self.documents.all(TENANT)
        return found

"""A search on fakes over documents that a test commits one by one."""

from datetime import timedelta
from itertools import count
from typing import Any

from spinneret.content.caches.service import Caches
from spinneret.content.documents.signatures import signature
from spinneret.content.search.models import Query
from spinneret.content.search.service import SearchResult, SearchService
from spinneret.jobs.models import Lease
from spinneret.jobs.ports import Claimed, NewJob
from tests import factories
from tests.factories import TENANT
from tests.fakes.caches import FakeCacheStore
from tests.fakes.documents import FakeDocumentStore
from tests.fakes.jobs import FakeJobStore
from tests.fakes.search import FakeChunkIndex, FakeEmbedder, FakeReranker
from tests.fakes.time import START, HandClock, plenty

VERSION = "000001-v1"


class CachedSearch:
    """A search with caches and a reranker, on fakes."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.jobs = FakeJobStore()
        self.documents = FakeDocumentStore(self.jobs)
        self.embedder = FakeEmbedder(max_input_tokens=34)
        self.index = FakeChunkIndex()
        self.cache_store = FakeCacheStore()
        self.caches = Caches(store=self.cache_store, clock=self.clock)
        self.reranker = FakeReranker()
        self.numbers = count()
        self.lease = self._lease()
        self.searches = 0
        search = self.index.search

        def counted(*given: Any) -> Any:
            self.searches += 1
            return search(*given)

        self.index.search = counted  # type: ignore[method-assign]  # to count its calls

    def service(self, **parts: Any) -> SearchService:
        """Return the search service of one process."""
        values: dict[str, Any] = {
            "embedder": self.embedder,
            "index": self.index,
            "documents": self.documents,
            "caches": self.caches,
            "reranker": self.reranker,
            "new_id": lambda prefix: f"{prefix}_{next(self.numbers)}",
            "clock": self.clock,
            "sleep": self.clock.advance,
        }
        return SearchService(**values | parts)

    def search(self, text: str = "silk", tenant: str = TENANT, **given: Any) -> SearchResult:
        return self.service().search(Query(tenant=tenant, text=text, **given), plenty)

    def add(self, document_id: str, *texts: str, **given: Any) -> None:
        """Index and commit a document's first version."""
        chunks = [
            factories.indexed_chunk(
                text,
                document_id=document_id,
                version=VERSION,
                index=number,
                signature=signature(text),
                **given,
            )
            for number, text in enumerate(texts)
        ]
        self.index.write(chunks, plenty)
        labels = {name: given[name] for name in ("collection_id", "tag_ids") if name in given}
        document = factories.document(
            id=document_id, version=VERSION, chunk_count=len(texts), **labels
        )
        self.documents.commit(document, None, self.lease)

    def _lease(self) -> Lease:
        job = factories.job()
        self.jobs.submit([NewJob(job=job)], [factories.event()], None, factories.reply(), START)
        claimed = self.jobs.claim(job.ref, "one", START, START + timedelta(days=1))
        assert isinstance(claimed, Claimed)
        return claimed.lease


def ids(found: SearchResult) -> list[str]:
    """Return the document id of each hit."""
    return [hit.ranked.candidate.document_id for hit in found.hits]

"""Indexing and search of pages with another model: a server's, with 1,024 dimensions."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

import httpx
import pytest

from spinneret.aws.opensearch import opensearch_client
from spinneret.content.documents.service import DocumentDraft, Indexer
from spinneret.content.extraction.pages import extract
from spinneret.content.search.models import Query
from spinneret.content.search.opensearch import OpenSearchChunkIndex
from spinneret.content.search.opensearch_upkeep import OpenSearchUpkeep
from spinneret.content.search.service import SearchResult, SearchService
from spinneret.content.search.tei import TeiEmbedder, TeiReranker
from spinneret.jobs.models import Lease
from spinneret.jobs.ports import Claimed, NewJob
from spinneret.kernel.clock import utc_now
from tests import factories
from tests.conftest import Stack
from tests.contract.backends import PROMPT
from tests.factories import TENANT
from tests.fakes.documents import FakeContentStore, FakeDocumentStore
from tests.fakes.jobs import FakeJobStore
from tests.fakes.scripted_server import ScriptedServer
from tests.fakes.tei_server import serve_tei
from tests.fakes.time import START, plenty

pytestmark = pytest.mark.stack

PAGES = {
    "silk": "Spiders weave silk. " * 40,
    "looms": "Silk and wool are woven on looms, and looms clatter all day. " * 12,
    "bread": "Bread is baked of rye, water and salt. " * 20,
}


@dataclass
class Chain:
    """The services of the product that use a TEI server and the index."""

    server: ScriptedServer
    indexer: Indexer
    search: SearchService
    upkeep: OpenSearchUpkeep
    lease: Lease

    def add(self, name: str, text: str) -> int:
        """Index a page, and return the number of its chunks."""
        url = f"https://site.example/{name}"
        html = f"<html><head><title>{name}</title></head><body><main><h1>{name}</h1>"
        content = extract(f"{html}<p>{text}</p></main></body></html>", "text/html", url)
        page = DocumentDraft(
            tenant=TENANT, url=url, url_key=url, domain="site.example", content=content
        )
        return self.indexer.index(page, self.lease, lambda *_: None, plenty).document.chunk_count

    def ask(self, text: str, *, use_reranker: bool = False) -> SearchResult:
        query = Query(tenant=TENANT, text=text, use_reranker=use_reranker, collapse=False)
        return self.search.search(query, plenty)


@pytest.fixture
def chain(stack: Stack) -> Iterator[Chain]:
    client = opensearch_client(stack.opensearch_url, "none")
    prefix = f"contract-{uuid4().hex}"
    jobs = FakeJobStore()
    documents = FakeDocumentStore(jobs)
    with serve_tei(1024) as server, httpx.Client(trust_env=False) as http:
        model = TeiEmbedder(server.url(), http)
        index = OpenSearchChunkIndex(client, model, utc_now, PROMPT, prefix=prefix)
        yield Chain(
            server=server,
            indexer=Indexer(
                documents=documents,
                contents=FakeContentStore(),
                embedder=model,
                writer=index,
                clock=utc_now,
            ),
            search=SearchService(
                embedder=model,
                index=index,
                documents=documents,
                reranker=TeiReranker(server.url(), http),
            ),
            upkeep=OpenSearchUpkeep(client, index),
            lease=_lease(jobs),
        )
    client.indices.delete(index=f"{prefix}-*")
    client.close()


def _lease(jobs: FakeJobStore) -> Lease:
    job = factories.job()
    jobs.submit([NewJob(job=job)], [factories.event()], None, factories.reply(), START)
    claimed = jobs.claim(job.ref, "one", START, START + timedelta(days=1))
    assert isinstance(claimed, Claimed)
    return claimed.lease


# covers C-05, S-03
def test_pages_are_cut_embedded_stored_found_and_reranked_by_a_server_s_model(
    chain: Chain,
) -> None:
    chunks = sum(chain.add(name, text) for name, text in PAGES.items())
    assert chunks > len(PAGES)  # a chunk has at most 62 tokens of this model

    assert chain.upkeep.reading(plenty).endswith("-example-large-v1-1024-000001")
    assert chain.upkeep.totals(plenty) == (len(PAGES), chunks)
    found = chain.ask("spiders weave silk")
    assert found.hits[0].chunk.url == "https://site.example/silk"
    assert len(found.hits[0].ranked.places) == 2
    assert not found.degraded

    reranked = chain.ask("looms that clatter", use_reranker=True)
    assert reranked.hits[0].chunk.url == "https://site.example/looms"
    assert reranked.hits[0].ranked.score == pytest.approx(2 / 3)
    assert not reranked.rerank_failed
    paths = [each.target for each in chain.server.requests]
    assert {"/info", "/tokenize", "/embed", "/rerank"} == set(paths)
    assert paths.count("/rerank") > 1  # a request has at most four texts

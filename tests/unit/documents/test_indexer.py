"""Making a page searchable: what is embedded, shown and forgotten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.documents.models import Content, Document, Metadata
from spinneret.documents.ports import VersionRaced
from spinneret.documents.rules import document_id
from spinneret.documents.service import Indexed, Indexer, Page
from spinneret.jobs import rules
from spinneret.jobs.models import Lease
from spinneret.jobs.ports import Claimed, NewJob
from spinneret.kernel import limits
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from spinneret.search.models import Query
from spinneret.search.service import SearchService
from tests import factories
from tests.factories import TENANT
from tests.fakes.crawling import long_page
from tests.fakes.documents import FakeContentStore, FakeDocumentStore
from tests.fakes.jobs import FakeJobStore
from tests.fakes.search import FakeChunkIndex, FakeEmbedder
from tests.fakes.time import HandClock

URL = "https://site.example/page"


class Bench:
    """An indexer on fakes, under the lease of one running job."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.jobs = FakeJobStore()
        self.documents = FakeDocumentStore(self.jobs)
        self.contents = FakeContentStore()
        self.embedder = FakeEmbedder(max_input_tokens=202, max_batch=2)
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
            index=self.chunks,
            clock=self.clock,
        )
        values: dict[str, Any] = {
            "tenant": TENANT,
            "url": URL,
            "url_key": URL,
            "domain": "site.example",
            "content": content or factories.content(),
        }
        note = checkpoint or (lambda step, progress: self.steps.append((step, progress)))
        return indexer.index(Page(**values | page), lease or self.lease, note)

    def shown(self, text: str = "silk", tenant: str = TENANT) -> list[str]:
        service = SearchService(
            embedder=FakeEmbedder(), index=self.chunks, documents=self.documents
        )
        hits = service.search(Query(tenant=tenant, text=text, limit=100)).hits
        return [hit.candidate.chunk.text for hit in hits]

    @property
    def document(self) -> Document:
        [found] = self.documents.all(TENANT)
        return found


@pytest.fixture
def bench() -> Bench:
    return Bench()


# ---------------------------------------------------------------- A new page


def test_a_page_can_be_searched_at_once(bench: Bench) -> None:
    indexed = bench.index(factories.content("Spiders weave silk."))
    assert not indexed.unchanged
    assert bench.shown() == ["Spiders weave silk."]
    assert bench.document == indexed.document == bench.documents.get(TENANT, indexed.document.id)


def test_a_document_holds_what_the_page_says(bench: Bench) -> None:
    metadata = Metadata(author="A. Weaver", keywords=("silk", "spiders"))
    content = factories.content("Spiders weave silk.", title="Silk", metadata=metadata)
    document = bench.index(content).document
    assert document.id == document_id(TENANT, URL)
    assert (document.title, document.language, document.metadata) == ("Silk", "en", metadata)
    assert (document.url, document.domain, document.job_id) == (URL, "site.example", "job_1")
    assert (document.sequence, document.chunk_count, document.token_count) == (1, 1, 3)
    assert document.embedding_model == "fake"
    assert document.created_at == document.crawled_at == document.changed_at == bench.clock()
    assert bench.contents.get(document.content_key) == "Spiders weave silk."


def test_chunks_slice_the_stored_text(bench: Bench) -> None:
    text = long_page("silk 🕸")
    document = bench.index(factories.content(text)).document
    chunks = sorted(bench.chunks.chunks.values(), key=lambda chunk: chunk.index)
    assert [chunk.index for chunk in chunks] == list(range(document.chunk_count))
    stored = bench.contents.get(document.content_key)
    for chunk in chunks:
        assert stored[chunk.start : chunk.end] == chunk.text
        assert (chunk.tenant, chunk.document_id, chunk.version) == (
            TENANT,
            document.id,
            document.version,
        )
    assert document.token_count == sum(chunk.token_count for chunk in chunks)


def test_a_chunk_fits_into_the_embedder_with_its_special_tokens(bench: Bench) -> None:
    bench.index(factories.content(long_page("silk")))
    counts = [chunk.token_count for chunk in bench.chunks.chunks.values()]
    assert len(counts) > 2
    assert max(counts) <= bench.embedder.info().max_input_tokens - 2


def test_a_chunk_has_512_tokens_where_the_embedder_takes_more(bench: Bench) -> None:
    bench.embedder = FakeEmbedder(max_input_tokens=8192)
    bench.index(factories.content(long_page("silk", 2000)))
    counts = [chunk.token_count for chunk in bench.chunks.chunks.values()]
    assert max(counts) <= limits.CHUNK_TOKENS
    assert len(counts) > 3


def test_progress_never_falls_and_every_batch_renews_the_lease(bench: Bench) -> None:
    document = bench.index(factories.content(long_page("silk"))).document
    steps = [step for step, _ in bench.steps]
    progress = [percent for _, percent in bench.steps]
    assert progress == sorted(progress)
    assert progress[-1] < 100
    assert steps.count("embedding") == -(-document.chunk_count // 2)
    assert list(dict.fromkeys(steps)) == ["chunking", "embedding", "indexing"]


# ---------------------------------------------------------------- The page again


def test_unchanged_content_is_not_embedded_again(bench: Bench) -> None:
    first = bench.index().document
    embedded, chunks = list(bench.embedder.embedded), dict(bench.chunks.chunks)
    bench.clock.advance(3600)
    again = bench.index(lease=bench.claim("job_2"))
    assert again.unchanged
    assert (bench.embedder.embedded, bench.chunks.chunks) == (embedded, chunks)
    assert again.document == replace(first, sequence=2, crawled_at=bench.clock(), job_id="job_2")
    assert bench.shown() == [chunk.text for chunk in chunks.values()]


def test_unchanged_content_takes_new_metadata(bench: Bench) -> None:
    bench.index()
    again = bench.index(factories.content(metadata=Metadata(author="A. Weaver")))
    assert again.unchanged
    assert bench.document.metadata.author == "A. Weaver"


@pytest.mark.parametrize(
    "changed",
    [factories.content("Spiders weave more silk."), factories.content(title="Other")],
    ids=["text", "title"],
)
def test_changed_content_replaces_the_old_chunks(bench: Bench, changed: Content) -> None:
    first = bench.index().document
    bench.clock.advance(3600)
    indexed = bench.index(changed)
    document = indexed.document
    assert not indexed.unchanged
    assert (document.sequence, document.created_at) == (2, first.created_at)
    assert document.changed_at == document.crawled_at == bench.clock()
    assert document.version != first.version
    assert {chunk.version for chunk in bench.chunks.chunks.values()} == {document.version}
    assert bench.shown() == [changed.markdown]


def test_content_that_returns_gets_a_version_of_its_own(bench: Bench) -> None:
    one, other = factories.content("Silk of spiders."), factories.content("Silk of worms.")
    versions = [bench.index(content).document.version for content in (one, other, one)]
    assert len(set(versions)) == 3
    assert bench.shown() == ["Silk of spiders."]


def test_another_model_embeds_unchanged_content_again(bench: Bench) -> None:
    bench.index()
    bench.embedder = FakeEmbedder("another")
    indexed = bench.index()
    assert not indexed.unchanged
    assert bench.embedder.embedded
    assert bench.document.embedding_model == "another"


def test_two_tenants_have_a_document_each(bench: Bench) -> None:
    one = bench.index().document
    other = bench.index(tenant="other").document
    assert one.id != other.id
    assert one.content_key != other.content_key
    assert bench.shown(tenant="other") == bench.shown()
    assert bench.shown(tenant="third") == []


# ---------------------------------------------------------------- Races and outages


class RacedDocuments(FakeDocumentStore):
    """Other jobs commit versions of the same page just before this one does."""

    def __init__(self, bench: Bench, contents: list[Content]) -> None:
        super().__init__(bench.jobs)
        self._bench = bench
        self._others = contents

    def commit(self, document: Document, replaces: Document | None, lease: Lease) -> None:
        if self._others:
            content = self._others.pop(0)
            mine, self._others = self._others, []
            self._bench.index(content)
            self._others = mine
        super().commit(document, replaces, lease)


def test_a_lost_race_starts_again_from_the_winner(bench: Bench) -> None:
    bench.documents = RacedDocuments(bench, [factories.content("Silk of worms.")])
    indexed = bench.index(factories.content("Silk of spiders."))
    assert indexed.document.sequence == 2
    assert bench.shown() == ["Silk of spiders."]


def test_a_race_between_equal_contents_ends_as_unchanged(bench: Bench) -> None:
    same = factories.content("Silk of spiders.")
    bench.documents = RacedDocuments(bench, [same])
    indexed = bench.index(same)
    assert indexed.unchanged
    assert (indexed.document.sequence, bench.shown()) == (2, ["Silk of spiders."])


def test_endless_races_are_waited_for(bench: Bench) -> None:
    class AlwaysRaced(FakeDocumentStore):
        def commit(self, document: Document, replaces: Document | None, lease: Lease) -> None:
            raise VersionRaced

    bench.documents = AlwaysRaced(bench.jobs)
    with pytest.raises(DependencyUnavailable):
        bench.index()
    assert bench.shown() == []


def test_an_old_version_that_cannot_be_removed_is_left_but_not_shown(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_: Any) -> None:
        raise DependencyUnavailable("opensearch")

    bench.index(factories.content("Silk of spiders."))
    monkeypatch.setattr(bench.chunks, "remove_version", unavailable)
    bench.index(factories.content("Silk of worms."))
    assert len(bench.chunks.chunks) == 2
    assert bench.shown() == ["Silk of worms."]


@pytest.mark.parametrize("part", ["embedder", "chunks", "contents"])
def test_a_part_that_is_down_leaves_the_old_version_shown(bench: Bench, part: str) -> None:
    before = bench.index(factories.content("Silk of spiders.")).document
    getattr(bench, part).available = False
    with pytest.raises(DependencyUnavailable):
        bench.index(factories.content("Silk of worms."))
    getattr(bench, part).available = True
    assert bench.document == before
    assert bench.shown() == ["Silk of spiders."]


@pytest.mark.parametrize("content", ["Silk of worms.", "Silk of spiders."])
def test_a_lost_lease_shows_nothing_new(bench: Bench, content: str) -> None:
    before = bench.index(factories.content("Silk of spiders.")).document
    job = bench.jobs.get(factories.job().ref)
    assert job is not None
    bench.jobs.transition(job, rules.hand_back(job, bench.clock()))
    with pytest.raises(LeaseLost):
        bench.index(factories.content(content))
    assert bench.document == before
    assert bench.shown() == ["Silk of spiders."]


def test_what_a_checkpoint_raises_ends_the_work(bench: Bench) -> None:
    class Stop(Exception):
        pass

    def checkpoint(step: str, _: int) -> None:
        if step == "indexing":
            raise Stop

    with pytest.raises(Stop):
        bench.index(checkpoint=checkpoint)
    assert (bench.shown(), bench.documents.all(TENANT)) == ([], [])

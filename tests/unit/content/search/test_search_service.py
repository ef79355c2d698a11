"""Searches return only current documents of the tenant, within the limit."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

from spinneret.content.documents.models import VersionVisibility, chunk_parts
from spinneret.content.search import limits
from spinneret.content.search.models import FoundChunk, Fusion, Leg, LegCandidate, Query
from spinneret.content.search.service import SearchResult, SearchService
from spinneret.jobs.models import Lease
from spinneret.jobs.ports import Claimed, NewJob
from spinneret.kernel.errors import DependencyUnavailable
from tests import factories
from tests.factories import TENANT
from tests.fakes.documents import FakeDocumentStore
from tests.fakes.jobs import FakeJobStore
from tests.fakes.search import FakeChunkIndex, FakeEmbedder
from tests.fakes.time import START, plenty


class CountingDocuments(FakeDocumentStore):
    """A document store that records the number of ids in each look-up."""

    def __init__(self, jobs: FakeJobStore) -> None:
        super().__init__(jobs)
        self.asked: list[int] = []

    def shown(self, tenant: str, document_ids: Sequence[str]) -> dict[str, VersionVisibility]:
        self.asked.append(len(document_ids))
        return super().shown(tenant, document_ids)


class ScriptedIndex(FakeChunkIndex):
    """An index that returns the same legs to every search and has every requested chunk."""

    def __init__(self, legs: Mapping[Leg, Sequence[LegCandidate]]) -> None:
        super().__init__()
        self._legs = legs

    def search(self, *_: Any) -> Mapping[Leg, Sequence[LegCandidate]]:
        return self._legs

    def chunks(
        self, tenant: str, chunk_ids: Sequence[str], words: Any, remaining: Any
    ) -> Mapping[str, FoundChunk]:
        for each in chunk_ids:
            document_id, version, index = chunk_parts(each)
            made = factories.indexed_chunk(
                tenant=tenant, document_id=document_id, version=version, index=index
            )
            self.held[each] = made
        return super().chunks(tenant, chunk_ids, words, remaining)


class SearchWorld:
    """A search over chunks whose documents a test commits one by one."""

    def __init__(self, index: FakeChunkIndex | None = None) -> None:
        self.jobs = FakeJobStore()
        self.documents = CountingDocuments(self.jobs)
        self.embedder = FakeEmbedder()
        self.index = index or FakeChunkIndex()
        self.service = SearchService(
            embedder=self.embedder, index=self.index, documents=self.documents
        )
        self.leases = {tenant: self._lease(tenant) for tenant in (TENANT, "other")}

    def _lease(self, tenant: str) -> Lease:
        job = factories.job(tenant=tenant)
        self.jobs.submit([NewJob(job=job)], [factories.event()], None, factories.reply(), START)
        claimed = self.jobs.claim(job.ref, "one", START, START + timedelta(days=1))
        assert isinstance(claimed, Claimed)
        return claimed.lease

    def show(self, document_id: str, version: str = "1-v1", tenant: str = TENANT) -> None:
        """Make a version of a document the current one."""
        current = self.documents.get(tenant, document_id)
        new = factories.document(
            tenant=tenant,
            id=document_id,
            version=version,
            sequence=1 if current is None else current.sequence + 1,
        )
        self.documents.commit(new, current, self.leases[tenant])

    def index_chunk(self, document_id: str, text: str, **given: Any) -> None:
        chunk = factories.indexed_chunk(text, document_id=document_id, version="1-v1", **given)
        self.index.write([chunk], plenty)

    def search(self, text: str = "silk", tenant: str = TENANT, **given: Any) -> SearchResult:
        return self.service.search(Query(tenant=tenant, text=text, **given), plenty)


def ids(found: SearchResult) -> list[str]:
    return [hit.ranked.candidate.document_id for hit in found.hits]


@pytest.fixture
def world() -> SearchWorld:
    return SearchWorld()


def test_the_best_match_comes_first(world: SearchWorld) -> None:
    for document_id, text in [("doc_1", "venom of snakes"), ("doc_2", "silk of spiders")]:
        world.index_chunk(document_id, text)
        world.show(document_id)
    found = world.search("spiders silk")
    assert ids(found) == ["doc_2", "doc_1"]
    assert [hit.ranked.found_by for hit in found.hits] == ["fused", "vector"]


def test_the_query_is_embedded_once(world: SearchWorld) -> None:
    world.search("spiders silk")
    assert world.embedder.embedded == ["spiders silk"]


def test_an_outdated_version_is_not_shown(world: SearchWorld) -> None:
    world.index_chunk("doc_1", "silk")
    world.show("doc_1", "1-v1")
    world.show("doc_1", "1-v2")
    found = world.search()
    assert (found.hits, found.total_count) == ((), 1)


def test_a_version_that_was_never_committed_is_not_shown(world: SearchWorld) -> None:
    world.index_chunk("doc_1", "silk")
    assert world.search().hits == ()


def test_only_the_current_of_several_versions_is_shown(world: SearchWorld) -> None:
    world.index.write(
        [factories.indexed_chunk("silk", version=version) for version in ("1-v1", "1-v2", "1-v3")],
        plenty,
    )
    world.show("doc_1", "1-v1")
    world.show("doc_1", "1-v2")
    assert [hit.ranked.candidate.version for hit in world.search().hits] == ["1-v2"]


def test_another_tenant_s_chunks_are_not_shown_even_when_the_index_answers_them() -> None:
    foreign = factories.candidate("doc_9:1-v1:00000")
    world = SearchWorld(ScriptedIndex({Leg.VECTOR: [foreign], Leg.KEYWORD: [foreign]}))
    world.show("doc_9", "1-v1", tenant="other")
    assert world.search().hits == ()
    assert len(world.search(tenant="other").hits) == 1


def test_the_limit_is_filled_past_outdated_hits() -> None:
    """The search fetches more candidates than the limit, to replace those that it drops."""
    candidates = [factories.candidate(f"doc_{n:03d}:1-v1:00000") for n in range(100)]
    world = SearchWorld(ScriptedIndex({Leg.VECTOR: candidates, Leg.KEYWORD: []}))
    for n in range(100):
        world.show(f"doc_{n:03d}", "1-v1" if n % 10 == 9 else "1-v0")
    found = world.search(limit=5)
    assert ids(found) == [f"doc_{n:03d}" for n in (9, 19, 29, 39, 49)]
    assert found.total_count == 100


@pytest.mark.parametrize("limit", [1, 10, 100])
def test_the_limit_holds(limit: int) -> None:
    candidates = [factories.candidate(f"doc_{n:03d}:1-v1:00000") for n in range(100)]
    world = SearchWorld(ScriptedIndex({Leg.VECTOR: candidates, Leg.KEYWORD: []}))
    for n in range(100):
        world.show(f"doc_{n:03d}")
    assert ids(world.search(limit=limit)) == [f"doc_{n:03d}" for n in range(limit)]


@pytest.mark.parametrize(("outdated", "asked"), [(0, [10]), (1, [10, 20])])
def test_a_page_of_current_hits_takes_one_look_up_of_its_own_documents(
    outdated: int, asked: list[int]
) -> None:
    candidates = [factories.candidate(f"doc_{n:03d}:1-v1:00000") for n in range(100)]
    world = SearchWorld(ScriptedIndex({Leg.VECTOR: candidates, Leg.KEYWORD: candidates[::-1]}))
    for n in range(100):
        world.show(f"doc_{n:03d}", "1-v0" if n < outdated else "1-v1")
    assert len(world.search(limit=10).hits) == 10
    assert world.documents.asked == asked


def test_the_widest_search_asks_for_no_more_than_a_batch_at_once() -> None:
    legs = {
        Leg.VECTOR: [factories.candidate(f"doc_a{n:03d}:1-v1:00000") for n in range(100)],
        Leg.KEYWORD: [factories.candidate(f"doc_b{n:03d}:1-v1:00000") for n in range(100)],
    }
    world = SearchWorld(ScriptedIndex(legs))
    assert world.search(limit=100).hits == ()
    assert sum(world.documents.asked) == 200
    assert max(world.documents.asked) <= 100


def test_several_chunks_of_a_document_are_looked_up_once() -> None:
    candidates = [factories.candidate(f"doc_1:1-v1:{n:05d}") for n in range(50)]
    world = SearchWorld(ScriptedIndex({Leg.VECTOR: candidates, Leg.KEYWORD: []}))
    world.show("doc_1")
    assert len(world.search(limit=50).hits) == 50
    assert world.documents.asked == [1]


def test_weights_choose_between_the_legs() -> None:
    near, common = (factories.candidate(f"doc_{n}:1-v1:00000") for n in (1, 2))
    world = SearchWorld(ScriptedIndex({Leg.VECTOR: [near], Leg.KEYWORD: [common]}))
    world.show("doc_1")
    world.show("doc_2")
    assert ids(world.search(fusion=Fusion.RRF, vector_weight=2.0)) == ["doc_1", "doc_2"]
    assert ids(world.search(fusion=Fusion.RRF, keyword_weight=2.0)) == ["doc_2", "doc_1"]


def test_a_least_score_drops_what_is_below_it() -> None:
    candidates = [factories.candidate(f"doc_{n}:1-v1:00000") for n in range(3)]
    world = SearchWorld(ScriptedIndex({Leg.VECTOR: candidates, Leg.KEYWORD: candidates[:1]}))
    for n in range(3):
        world.show(f"doc_{n}")
    found = world.search(fusion=Fusion.RRF, min_score=1 / 62)
    assert (ids(found), found.total_count) == (["doc_0", "doc_1"], 2)


def test_each_leg_is_asked_for_the_whole_window(world: SearchWorld) -> None:
    for n in range(limits.SEARCH_WINDOW + 20):
        world.index_chunk(f"doc_{n:03d}", f"silk {n}")
        world.show(f"doc_{n:03d}")
    found = world.search(limit=100)
    assert len(found.hits) == 100
    assert limits.SEARCH_WINDOW <= found.total_count <= 2 * limits.SEARCH_WINDOW


def test_an_index_that_is_away_is_reported(world: SearchWorld) -> None:
    world.index.available = False
    with pytest.raises(DependencyUnavailable):
        world.search()


def test_words_alone_rank_while_the_embedder_is_away(world: SearchWorld) -> None:
    for name in ("doc_1", "doc_2"):
        world.index_chunk(name, "silk" if name == "doc_1" else "wool")
        world.show(name)
    assert not world.search().degraded
    world.embedder.available = False
    found = world.search()
    assert (found.degraded, ids(found)) == (True, ["doc_1"])
    assert Leg.VECTOR not in found.hits[0].ranked.places
    with pytest.raises(DependencyUnavailable):  # words have no weight: "no hits" would be false
        world.search(keyword_weight=0.0)


def test_the_embedder_has_a_part_of_the_time_and_the_index_what_is_left(world: SearchWorld) -> None:
    left: dict[str, float] = {}
    embed, search = world.embedder.embed, world.index.search

    def embedding(texts: Any, remaining: Any) -> Any:
        left["embedder"] = remaining()
        return embed(texts, remaining)

    def searching(*given: Any) -> Any:
        left["index"] = given[-1]()
        return search(*given)

    world.embedder.embed = embedding  # type: ignore[method-assign]  # to see what it is given
    world.index.search = searching  # type: ignore[method-assign]  # to see what it is given
    world.service.search(Query(tenant=TENANT, text="silk"), lambda: 8.0)
    assert left == {"embedder": limits.SEARCH_EMBED_SECONDS, "index": 8.0}

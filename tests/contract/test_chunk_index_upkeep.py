"""Contract tests of index upkeep: the fake, and OpenSearch with separate indexes per test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from spinneret.aws.opensearch import opensearch_client
from spinneret.content.documents.models import Document, IndexedChunk
from spinneret.content.search.models import (
    BOTH,
    Filters,
    IndexedVersion,
    IndexQuery,
    Leg,
    ParsedQuery,
)
from spinneret.content.search.opensearch import OpenSearchChunkIndex
from spinneret.content.search.opensearch_upkeep import OpenSearchUpkeep
from spinneret.content.search.ports import ChunkIndex, IndexMissing, IndexUpkeep
from tests import factories
from tests.contract.backends import OF_OTHERS, PROMPT
from tests.fakes.search import FakeChunkIndex, FakeEmbedder, vector_of
from tests.fakes.time import START, plenty
from tests.fakes.upkeep import FakeIndexUpkeep

pytestmark = OF_OTHERS


@dataclass
class Kept:
    """An index and its upkeep."""

    index: ChunkIndex
    upkeep: IndexUpkeep
    later: Callable[[], Kept]
    """Function that returns the index and upkeep after a change of the model."""
    lose: Callable[[], None]
    """Function that deletes all indexes."""

    def texts(self, tenant: str, vector: tuple[float, ...] | None = vector_of("silk")) -> list[str]:
        wanted = IndexQuery(
            tenant=tenant, words=ParsedQuery.of("silk"), vector=vector, legs=BOTH, filters=Filters()
        )
        hits = self.index.search(wanted, 100, plenty)[Leg.KEYWORD]
        chunks = self.index.chunks(tenant, [each.chunk_id for each in hits], None, plenty)
        assert len(chunks) == len(hits)
        return sorted(each.text for each in chunks.values())


def _on_fakes(index: FakeChunkIndex) -> Kept:
    return Kept(
        index,
        FakeIndexUpkeep(index),
        lambda: _on_fakes(index.of_another_model()),
        index.lose,
    )


def _on_opensearch(client: Any, prefix: str, model: int) -> Kept:
    later = START + timedelta(hours=model)
    index = OpenSearchChunkIndex(
        client, FakeEmbedder(f"model-{model}"), lambda: later, PROMPT, prefix=prefix
    )
    return Kept(
        index,
        OpenSearchUpkeep(client, index),
        lambda: _on_opensearch(client, prefix, model + 1),
        lambda: client.indices.delete(index=f"{prefix}-*"),
    )


@pytest.fixture
def kept(backend: str, request: pytest.FixtureRequest) -> Iterator[Kept]:
    """Provide an index whose name has a prefix of this test only, apart from the stage's index."""
    if backend == "fake":
        yield _on_fakes(FakeChunkIndex())
        return
    client = opensearch_client(request.getfixturevalue("stack").opensearch_url, "none")
    prefix = f"contract-{uuid4().hex}"
    yield _on_opensearch(client, prefix, 0)
    client.indices.delete(index=f"{prefix}-*")
    client.close()


def chunk(tenant: str, text: str, **given: object) -> IndexedChunk:
    return factories.indexed_chunk(text, tenant=tenant, **given)


def test_a_new_index_takes_over_when_it_is_complete(kept: Kept, tenant: str) -> None:
    kept.index.write([chunk(tenant, "silk one")], plenty)
    first = kept.upkeep.reading(plenty)
    target = kept.upkeep.begin(plenty)
    assert target != first
    assert kept.upkeep.begin(plenty) == target
    kept.index.write([chunk(tenant, "silk two", document_id="doc_2")], plenty)
    assert kept.index.targets(plenty) == {first, target}
    assert kept.texts(tenant) == ["silk one", "silk two"]
    kept.upkeep.write([chunk(tenant, "silk one")], target, plenty)
    kept.upkeep.finish(target, plenty)
    assert kept.index.targets(plenty) == {target}
    assert kept.upkeep.reading(plenty) == target
    assert kept.texts(tenant) == ["silk one", "silk two"]


def test_chunks_of_current_versions_are_counted(kept: Kept, tenant: str) -> None:
    kept.index.write([chunk(tenant, f"silk {n}", index=n) for n in range(3)], plenty)
    kept.index.write([chunk(tenant, "silk old", version="000000-x")], plenty)
    documents = [factories.document(tenant=tenant, id=f"doc_{n}") for n in (1, 2)]
    held = kept.upkeep.held(kept.upkeep.reading(plenty), documents, plenty)
    assert {each: held[each].chunks for each in held} == {"doc_1": 3, "doc_2": 0}


def test_chunks_beyond_a_document_s_number_are_removed_from_one_index(
    kept: Kept, tenant: str
) -> None:
    kept.index.write([chunk(tenant, "silk old", version="000000-x", index=4)], plenty)
    target = kept.upkeep.begin(plenty)
    kept.index.write([chunk(tenant, f"silk {n}", index=n) for n in range(5)], plenty)
    kept.upkeep.trim(factories.document(tenant=tenant, chunk_count=2), target, plenty)
    kept.index.write([chunk(tenant, "silk last", document_id="doc_9")], plenty)
    live = [f"silk {n}" for n in range(5)]
    assert kept.texts(tenant) == [*live, "silk last", "silk old"]
    kept.upkeep.finish(target, plenty)
    assert kept.texts(tenant) == [*live[:2], "silk last"]


LABELS = {
    "collection": {"collection_id": "col_2"},
    "no collection": {"collection_id": None},
    "a tag more": {"tag_ids": ("tag_1", "tag_2", "tag_3")},
    "a tag less": {"tag_ids": ("tag_1",)},
    "no tag": {"tag_ids": ()},
    "deleted": {"deleted_at": START},
}


@pytest.mark.parametrize("name", list(LABELS))
def test_chunks_that_bear_other_labels_than_their_row_are_known(
    kept: Kept, tenant: str, name: str
) -> None:
    row = factories.document(
        tenant=tenant, chunk_count=3, collection_id="col_1", tag_ids=("tag_1", "tag_2")
    )
    drifted = replace(row, **LABELS[name])  # type: ignore[arg-type]  # of several types
    kept.index.write([chunk(tenant, f"silk {n}", index=n) for n in range(3)], plenty)

    def labelled(document: Document) -> bool:
        return kept.upkeep.held(kept.upkeep.reading(plenty), [document], plenty)["doc_1"].labelled

    for bears, other in ((row, drifted), (drifted, row)):
        kept.index.relabel(bears, plenty)
        assert (labelled(bears), labelled(other)) == (True, False)
    kept.index.relabel(replace(row, chunk_count=1), plenty)
    assert not labelled(row)
    assert not labelled(drifted)


def test_versions_are_listed_and_removed(kept: Kept, tenant: str) -> None:
    kept.index.write(
        [
            chunk(tenant, "silk current"),
            chunk(tenant, "silk stray", version="000002-x"),
            chunk(f"{tenant}x", "silk foreign", document_id="doc_3"),
        ],
        plenty,
    )
    assert kept.upkeep.totals(plenty) == (2, 3)
    page = kept.upkeep.versions(None, plenty)
    found = list(page.versions)
    while page.after is not None:
        page = kept.upkeep.versions(page.after, plenty)
        found += page.versions
    own = [each for each in found if each.tenant == tenant]
    assert [(each.document_id, each.version) for each in own] == [
        ("doc_1", "000001-000000000000"),
        ("doc_1", "000002-x"),
    ]
    assert all(abs(each.written_at - START) < timedelta(seconds=1) for each in own)
    stray = IndexedVersion(tenant=tenant, document_id="doc_1", version="000002-x", written_at=START)
    kept.upkeep.remove([stray], plenty)
    kept.index.write([chunk(tenant, "silk last", document_id="doc_9")], plenty)
    assert kept.texts(tenant) == ["silk current", "silk last"]


# ---------------------------------------------------------------- No index


@pytest.mark.parametrize("vector", [None, vector_of("silk")])
def test_a_search_without_an_index_says_so(
    kept: Kept, tenant: str, vector: tuple[float, ...] | None
) -> None:
    kept.lose()
    with pytest.raises(IndexMissing):
        kept.texts(tenant, vector)
    with pytest.raises(IndexMissing):
        kept.index.chunks(tenant, ["doc_1:000001-x:00000"], None, plenty)


# ---------------------------------------------------------------- Another model


def test_a_chunk_that_two_models_have_is_one_hit(kept: Kept, tenant: str) -> None:
    chunks = [chunk(tenant, f"silk {n}", index=n) for n in range(60)]
    kept.index.write(chunks, plenty)
    later = kept.later()
    later.index.write(chunks[:50], plenty)
    later.index.write([chunk(tenant, "silk that is new", document_id="doc_2")], plenty)
    everything = sorted([*(each.text for each in chunks), "silk that is new"])
    assert later.texts(tenant, None) == everything


def test_of_a_chunk_that_two_models_cut_differently_the_later_one_is_shown(
    kept: Kept, tenant: str
) -> None:
    kept.index.write([chunk(tenant, "silk as it was cut")], plenty)
    later = kept.later()
    later.index.write([chunk(tenant, "silk as it is cut")], plenty)
    assert later.texts(tenant, None) == ["silk as it is cut"]


def test_labels_and_removals_reach_the_former_model_s_index(kept: Kept, tenant: str) -> None:
    document = factories.document(tenant=tenant, sequence=2, version="000002-a")
    for each in ("000001-a", "000002-a"):
        kept.index.write([chunk(tenant, f"silk {each}", version=each)], plenty)
    kept.index.write([chunk(tenant, "silk stray", document_id="doc_2", version="1-x")], plenty)
    later = kept.later()
    later.index.write([chunk(tenant, "silk of another", document_id="doc_3")], plenty)
    later.index.remove_others(document, plenty)
    stray = IndexedVersion(tenant=tenant, document_id="doc_2", version="1-x", written_at=START)
    later.upkeep.remove([stray], plenty)
    kept.index.write([chunk(tenant, "silk that was last", document_id="doc_4")], plenty)
    rest = ["silk of another", "silk that was last"]
    assert later.texts(tenant, None) == ["silk 000002-a", *rest]
    later.index.relabel(replace(document, deleted_at=START), plenty)
    assert later.texts(tenant, None) == rest


def test_a_former_model_s_index_is_retired(kept: Kept, tenant: str) -> None:
    for how in ("retired", "made anew"):
        kept.index.write([chunk(tenant, "silk of the former model")], plenty)
        later = kept.later()
        later.index.write([chunk(tenant, "silk", document_id="doc_2")], plenty)
        if how == "retired":
            later.upkeep.retire(plenty)
        else:
            target = later.upkeep.begin(plenty)
            later.upkeep.write([chunk(tenant, "silk", document_id="doc_2")], target, plenty)
            later.upkeep.finish(target, plenty)
        assert later.texts(tenant, None) == later.texts(tenant) == ["silk"]
        kept = later

"""Contract tests of chunk indexes: the fake, and OpenSearch."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from spinneret.aws.opensearch import opensearch_client
from spinneret.content.chunking.models import ChunkType
from spinneret.content.documents.models import DocumentSource, IndexedChunk
from spinneret.content.search.models import (
    BOTH,
    Filters,
    FoundChunk,
    IndexQuery,
    Leg,
    LegCandidate,
    ParsedQuery,
)
from spinneret.content.search.opensearch import OpenSearchChunkIndex
from spinneret.content.search.ports import ChunkIndex
from spinneret.content.search.rules import cut_to_terms
from spinneret.kernel.clock import utc_now
from tests import factories
from tests.contract.backends import OF_OTHERS, PROMPT
from tests.fakes.search import FakeChunkIndex, FakeEmbedder, vector_of
from tests.fakes.time import START, plenty

pytestmark = OF_OTHERS

WINDOW = 100
LATER, EARLIER = datetime(2029, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="session")
def opensearch(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Provide an index that only this run uses; the first write creates it."""
    client = opensearch_client(request.getfixturevalue("stack").opensearch_url, "none")
    prefix = f"contract-{uuid4().hex}"  # the stage's upkeep removes indexes with its own prefix
    yield OpenSearchChunkIndex(client, FakeEmbedder(), utc_now, PROMPT, prefix=prefix)
    client.indices.delete(index=f"{prefix}-*")
    client.close()


@pytest.fixture
def index(backend: str, request: pytest.FixtureRequest) -> ChunkIndex:
    if backend == "fake":
        return FakeChunkIndex()
    found: ChunkIndex = request.getfixturevalue("opensearch")
    return found


def chunk(tenant: str, text: str, **given: Any) -> IndexedChunk:
    return factories.indexed_chunk(text, **{"tenant": tenant, "title": None} | given)


@dataclass(frozen=True)
class Seen:
    """A candidate with the chunk that a search shows for it."""

    candidate: LegCandidate
    chunk: FoundChunk

    @property
    def score(self) -> float:
        return self.candidate.score


def search(
    index: ChunkIndex,
    tenant: str,
    text: str,
    window: int = WINDOW,
    legs: tuple[Leg, ...] = BOTH,
    left_out: frozenset[str] = frozenset(),
    **filters: Any,
) -> dict[Leg, list[Seen]]:
    words = ParsedQuery.of(text)
    wanted = IndexQuery(
        tenant=tenant,
        words=words,
        vector=vector_of(text),
        legs=legs,
        filters=Filters(**filters),
        left_out=left_out,
    )
    found = index.search(wanted, window, plenty)
    ids = list({each.chunk_id for leg in found.values() for each in leg})
    chunks = index.chunks(tenant, ids, words, plenty)
    return {leg: [Seen(each, chunks[each.chunk_id]) for each in found[leg]] for leg in found}


def texts(candidates: list[Seen]) -> list[str]:
    return [each.chunk.text for each in candidates]


# ---------------------------------------------------------------- Writing


def test_what_is_written_can_be_searched_at_once(index: ChunkIndex, tenant: str) -> None:
    for n in range(3):
        index.write([chunk(tenant, f"silk number {n}", index=n)], plenty)
        found = search(index, tenant, "silk")
        assert len(found[Leg.VECTOR]) == len(found[Leg.KEYWORD]) == n + 1


def test_a_hit_holds_what_was_written(index: ChunkIndex, tenant: str) -> None:
    written = chunk(
        tenant,
        "Spiders weave silk.",
        document_id="doc_7",
        version="000003-abc",
        index=12,
        section="Größe 🕸",
        start=100,
        end=119,
        title="A title",
        url="https://site.example/ü?a=1",
    )
    index.write([written], plenty)
    for found in search(index, tenant, "silk").values():
        [hit] = found
        one = hit.candidate
        assert (one.chunk_id, one.document_id, one.version) == (written.id, "doc_7", "000003-abc")
        shown = hit.chunk
        assert (shown.text, shown.section, shown.index) == (written.text, "Größe 🕸", 12)
        assert (shown.start, shown.end) == (100, 119)
        assert (shown.title, shown.url) == ("A title", written.url)


def test_a_chunk_without_title_and_section_is_found(index: ChunkIndex, tenant: str) -> None:
    index.write([chunk(tenant, "silk", title=None, section=None)], plenty)
    [hit] = search(index, tenant, "silk")[Leg.KEYWORD]
    assert (hit.chunk.title, hit.chunk.section) == (None, None)


def test_nothing_to_write_writes_nothing(index: ChunkIndex, tenant: str) -> None:
    index.write([], plenty)
    assert search(index, tenant, "silk") == {Leg.VECTOR: [], Leg.KEYWORD: []}


def test_writing_again_overwrites(index: ChunkIndex, tenant: str) -> None:
    for text in ("silk of worms", "silk of spiders"):
        index.write([chunk(tenant, text)], plenty)
    found = search(index, tenant, "silk")
    assert [texts(found[leg]) for leg in Leg] == [["silk of spiders"]] * 2


def test_many_chunks_are_written_together(index: ChunkIndex, tenant: str) -> None:
    index.write([chunk(tenant, f"silk number {n}", index=n) for n in range(150)], plenty)
    found = search(index, tenant, "silk")
    assert len(found[Leg.VECTOR]) == len(found[Leg.KEYWORD]) == WINDOW


# ---------------------------------------------------------------- Removing


def test_earlier_versions_are_removed_and_nothing_else(index: ChunkIndex, tenant: str) -> None:
    other = f"{tenant}x"
    gone = [chunk(tenant, f"silk gone {n}", index=n, version="000001-a") for n in range(3)]
    gone.append(chunk(tenant, "silk that lost the race", version="000002-b"))
    kept = [
        chunk(tenant, "silk current", version="000002-a"),
        chunk(tenant, "silk to come", version="000003-a"),
        chunk(tenant, "silk of another document", document_id="doc_2", version="000001-a"),
    ]
    foreign = chunk(other, "silk of another tenant", version="000001-a")
    index.write([*gone, *kept, foreign], plenty)
    document = factories.document(tenant=tenant, sequence=2, version="000002-a")
    index.remove_others(document, plenty)
    index.write([chunk(tenant, "another silk", document_id="doc_4")], plenty)
    found = texts(search(index, tenant, "silk")[Leg.KEYWORD])
    assert sorted(found) == sorted([*(each.text for each in kept), "another silk"])
    assert texts(search(index, other, "silk")[Leg.KEYWORD]) == ["silk of another tenant"]
    index.remove_others(document, plenty, also_current=True)
    index.write([chunk(tenant, "last silk", document_id="doc_5")], plenty)
    assert "silk current" not in texts(search(index, tenant, "silk")[Leg.KEYWORD])


def test_removing_what_is_not_there_does_nothing(index: ChunkIndex, tenant: str) -> None:
    index.write([chunk(tenant, "silk")], plenty)
    index.remove_others(factories.document(tenant=tenant, id="doc_unknown"), plenty)
    assert len(search(index, tenant, "silk")[Leg.KEYWORD]) == 1


# ---------------------------------------------------------------- Labels


def test_labels_change_without_a_new_version(index: ChunkIndex, tenant: str) -> None:
    index.write([chunk(tenant, f"silk {n}", index=n) for n in range(2)], plenty)
    index.write([chunk(tenant, "silk of another", document_id="doc_2")], plenty)
    labelled = factories.document(
        tenant=tenant, chunk_count=2, collection_id="col_1", tag_ids=("tag_1", "tag_2"), title="New"
    )
    index.relabel(labelled, plenty)
    for filters in ({"collection_ids": ("col_1",)}, {"tag_ids": ("tag_0", "tag_2")}):
        for found in search(index, tenant, "silk", **filters).values():
            assert sorted(texts(found)) == ["silk 0", "silk 1"]
    assert len(search(index, tenant, "new")[Leg.VECTOR]) == 3
    index.relabel(replace(labelled, deleted_at=START), plenty)
    for found in search(index, tenant, "silk").values():
        assert texts(found) == ["silk of another"]
    index.relabel(replace(labelled, chunk_count=3), plenty)  # the index has only two of them
    assert len(search(index, tenant, "silk")[Leg.KEYWORD]) == 3


# ---------------------------------------------------------------- Filters

VARIED = {
    "domain": ("domains", {"domain": "b.example"}, ("b.example",)),
    "source": ("sources", {"source": DocumentSource.UPLOAD}, (DocumentSource.UPLOAD,)),
    "language": ("languages", {"language": "de"}, ("de", "fr")),
    "type": ("content_types", {"type": ChunkType.CODE}, (ChunkType.CODE, ChunkType.TABLE)),
    "collection": ("collection_ids", {"collection_id": "col_1"}, ("col_1",)),
    "tag": ("tag_ids", {"tag_ids": ("tag_1", "tag_2")}, ("tag_2", "tag_3")),
    "from": ("date_from", {"changed_at": "2030-01-01T00:00:00.000000Z"}, LATER),
    "to": ("date_to", {"changed_at": "2020-01-01T00:00:00.000000Z"}, EARLIER),
}


@pytest.mark.parametrize("name", list(VARIED))
def test_a_filter_holds_for_both_legs(index: ChunkIndex, tenant: str, name: str) -> None:
    field, given, value = VARIED[name]
    index.write(
        [
            chunk(tenant, "silk wanted", **given),
            chunk(tenant, "silk unwanted", document_id="doc_2"),
            chunk(f"{tenant}x", "silk foreign", document_id="doc_3", **given),
        ],
        plenty,
    )
    for found in search(index, tenant, "silk", **{field: value}).values():
        assert texts(found) == ["silk wanted"]


def test_what_is_known_to_be_outdated_is_left_out(index: ChunkIndex, tenant: str) -> None:
    index.write([chunk(tenant, "silk old"), chunk(tenant, "silk new", version="000002-a")], plenty)
    outdated = frozenset({"doc_1:000001-000000000000"})
    for found in search(index, tenant, "silk", left_out=outdated).values():
        assert texts(found) == ["silk new"]


def test_a_phrase_must_occur_as_it_stands(index: ChunkIndex, tenant: str) -> None:
    index.write(
        [
            chunk(tenant, "they have spun silk today"),
            chunk(tenant, "silk spun today", document_id="doc_2"),
        ],
        plenty,
    )
    for query in ('"spun silk"', 'today "spun silk"'):
        assert texts(search(index, tenant, query)[Leg.KEYWORD]) == ["they have spun silk today"]


@pytest.mark.parametrize("leg", list(Leg))
def test_one_leg_can_be_asked_alone(index: ChunkIndex, tenant: str, leg: Leg) -> None:
    index.write([chunk(tenant, "silk")], plenty)
    assert list(search(index, tenant, "silk", legs=(leg,))) == [leg]


def test_chunks_of_another_tenant_are_not_fetched(index: ChunkIndex, tenant: str) -> None:
    written = chunk(tenant, "silk")
    index.write([written], plenty)
    assert set(index.chunks(tenant, [written.id, "doc_9:1-x:00000"], None, plenty)) == {written.id}
    assert index.chunks(f"{tenant}x", [written.id], None, plenty) == {}


# ---------------------------------------------------------------- Searching


def test_tenants_are_separated(index: ChunkIndex, tenant: str) -> None:
    other = f"{tenant}x"
    index.write([chunk(tenant, "silk of one", document_id="doc_a")], plenty)
    index.write(
        [chunk(other, f"silk of {n}", document_id="doc_b", index=n) for n in range(150)], plenty
    )
    for found in search(index, tenant, "silk").values():
        assert texts(found) == ["silk of one"]
    assert search(index, f"{tenant}y", "silk") == {Leg.VECTOR: [], Leg.KEYWORD: []}


def test_both_legs_put_the_better_match_first(index: ChunkIndex, tenant: str) -> None:
    wanted = ["spiders weave silk webs", "spiders weave baskets today", "volcanoes erupt slowly"]
    index.write([chunk(tenant, text, index=n) for n, text in enumerate(reversed(wanted))], plenty)
    found = search(index, tenant, "spiders weave silk webs")
    assert texts(found[Leg.VECTOR])[0] == wanted[0]
    assert texts(found[Leg.KEYWORD])[0] == wanted[0]
    assert wanted[2] not in texts(found[Leg.KEYWORD])
    for leg in Leg:
        scores = [hit.score for hit in found[leg]]
        assert scores == sorted(scores, reverse=True)


def test_of_chunks_with_the_same_words_those_in_the_order_of_the_query_are_first(
    index: ChunkIndex, tenant: str
) -> None:
    wanted = ["the spider weaves orb webs at night", "the orb at night weaves spider webs"]
    index.write([chunk(tenant, text, index=n) for n, text in enumerate(reversed(wanted))], plenty)
    assert texts(search(index, tenant, "weaves orb webs")[Leg.KEYWORD]) == wanted


def test_the_vector_leg_scores_the_cosine_from_0_to_1(index: ChunkIndex, tenant: str) -> None:
    same = vector_of("silk")
    vectors = {
        "same": same,
        "half": tuple((a + b) / 2**0.5 for a, b in zip(same, _orthogonal(same), strict=True)),
        "none": _orthogonal(same),
        "opposite": tuple(-value for value in same),
    }
    index.write(
        [chunk(tenant, name, index=n, vector=v) for n, (name, v) in enumerate(vectors.items())],
        plenty,
    )
    found = search(index, tenant, "silk")[Leg.VECTOR]
    scores = {hit.chunk.text: hit.score for hit in found}
    expected = {"same": 1.0, "half": (1 + 0.5**0.5) / 2, "none": 0.5, "opposite": 0.0}
    assert scores == pytest.approx(expected, abs=1e-3)
    assert list(scores) == list(expected)


def _orthogonal(vector: tuple[float, ...]) -> tuple[float, ...]:
    free = vector.index(0.0)
    return tuple(float(n == free) for n in range(len(vector)))


@pytest.mark.parametrize("window", [1, 3])
def test_each_leg_answers_its_best_window(index: ChunkIndex, tenant: str, window: int) -> None:
    index.write([chunk(tenant, f"silk {'web ' * n}", index=n) for n in range(5)], plenty)
    found = search(index, tenant, "silk", window)
    assert len(found[Leg.VECTOR]) == len(found[Leg.KEYWORD]) == window


def test_words_are_found_in_any_case(index: ChunkIndex, tenant: str) -> None:
    index.write([chunk(tenant, "The Spider Weaves SILK")], plenty)
    assert len(search(index, tenant, "silk SPIDER")[Leg.KEYWORD]) == 1


# ---------------------------------------------------------------- Highlights

MARKED = {
    "plain": "Spiders weave silk, and more silk.",
    "at the ends": "silk and webs of silk",
    "non-BMP characters": "🕷 silk 🕸🕸 and 👩‍🔬 silk 🕷",
    "combining characters": "cafe\u0301 größe silk e\u0301 silk",
    "markup": "<em>silk</em> &amp; <b>silk</b>",
    "private use": "\ue000 silk \ue001\ue000 and silk \uf8ff",
    "control characters": "a\u0001 silk \u200b\u00ad silk \ufeff",
    "lines": "silk\r\n\tsilk\u2028",
}


# covers S-03
@pytest.mark.parametrize("name", list(MARKED))
def test_highlights_slice_the_text_exactly(index: ChunkIndex, tenant: str, name: str) -> None:
    text = MARKED[name]
    index.write([chunk(tenant, text)], plenty)
    [hit] = search(index, tenant, "silk")[Leg.KEYWORD]
    assert hit.chunk.text == text
    assert [text[start:end] for start, end in hit.chunk.highlights] == ["silk"] * 2


def test_a_long_chunk_is_highlighted_to_its_end(index: ChunkIndex, tenant: str) -> None:
    text = "web 🕸 " * 1400 + "silk"
    index.write([chunk(tenant, text)], plenty)
    [hit] = search(index, tenant, "silk")[Leg.KEYWORD]
    assert [text[start:end] for start, end in hit.chunk.highlights] == ["silk"]


# ---------------------------------------------------------------- Harmless queries

QUERIES = [
    "silk * OR tenant:{other}",
    "silk tenant:{other}",
    'silk" OR "x',
    "silk'); DROP",
    '{{"match_all": {{}}}} silk',
    "silk ~ ^2 [a TO z] +(-x) && || ! \\ / ? :",
    "\\",
    "*",
    "*:*",
    "_exists_:tenant",
    '"',
    "((((",
    'silk\n{{}}\n{{"query": {{"match_all": {{}}}}}}',
    "\u0000 silk",
    "🕷 \ue000silk\ue001",
    "silk " * 200,
    " ".join(["silk", *(f"word{number}" for number in range(400))]),
    "x" * 1000,
    "A" + "\u8718\u86db\u7d72" * 333,
    "\u30af\u30e2\u7cf8" * 333,
    "\u0e01\u0e51" * 500,
]


@pytest.mark.parametrize("query", QUERIES, ids=[query[:20] for query in QUERIES])
def test_no_query_reaches_further_than_the_own_chunks(
    index: ChunkIndex, tenant: str, query: str
) -> None:
    other = f"{tenant}x"
    index.write([chunk(tenant, "own silk", document_id="doc_a")], plenty)
    index.write([chunk(other, f"silk tenant {other}", document_id="doc_b")], plenty)
    text = cut_to_terms(query.format(other=other))
    found = search(index, tenant, text)
    assert texts(found[Leg.VECTOR]) == ["own silk"]
    matches = "silk" in text and not ParsedQuery.of(text).phrases  # no chunk has these phrases
    assert texts(found[Leg.KEYWORD]) == (["own silk"] if matches else [])


# covers P-13
def test_the_documents_and_chunks_of_a_tenant_are_counted(index: ChunkIndex, tenant: str) -> None:
    chunks = [chunk(tenant, f"silk {n}", document_id=f"doc_{n % 2}", index=n) for n in range(3)]
    deleted = chunk(tenant, "webs", document_id="doc_9", deleted=True)
    index.write([*chunks, deleted, chunk(f"{tenant}x", "silk")], plenty)
    assert index.totals(tenant, plenty) == (2, 3)
    assert index.totals(f"{tenant}y", plenty) == (0, 0)

"""Names of the indexes that are searched and written, beside those of a former model."""

import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from typing import Any

import pytest

from spinneret.content.search import limits
from spinneret.content.search.models import BOTH, Filters, IndexedVersion, IndexQuery, ParsedQuery
from spinneret.content.search.opensearch import OpenSearchChunkIndex
from spinneret.content.search.opensearch_upkeep import OpenSearchUpkeep
from tests import factories
from tests.factories import TENANT
from tests.fakes.search import FakeEmbedder, vector_of
from tests.fakes.time import START, plenty

FORMER = "chunks-former-16-000001"
FIRST, SECOND = "chunks-model-16-000001", "chunks-model-16-000002"


class Aliases:
    """An OpenSearch that has indexes with aliases, but no documents."""

    def __init__(self, **indexes: Sequence[str]) -> None:
        self.held = {name.replace("_", "-"): set(aliases) for name, aliases in indexes.items()}
        self.asked: list[Any] = []
        """Bodies of searches, and target indexes of writes and deletions."""
        self.indices = self

    def get_alias(self, *, name: str, params: Any) -> dict[str, Any]:
        return {
            index: {"aliases": {each: {} for each in aliases if fnmatch(each, name)}}
            for index, aliases in self.held.items()
            if any(fnmatch(each, name) for each in aliases)
        }

    def refresh(self, *, index: str, params: Any) -> None:
        assert index in self.held

    def create(self, *, index: str, body: Mapping[str, Any], params: Any) -> None:
        self.held.setdefault(index, set(body["aliases"]))

    def update_aliases(self, *, body: Mapping[str, Any], params: Any) -> None:
        for action in body["actions"]:
            [(kind, told)] = action.items()
            aliases = self.held[told["index"]]
            (aliases.add if kind == "add" else aliases.discard)(told["alias"])

    def delete(self, *, index: str, params: Any) -> None:
        del self.held[index]

    def msearch(self, *, body: Sequence[Mapping[str, Any]], params: Any) -> dict[str, Any]:
        self.asked += body
        return {"responses": [{"hits": {"hits": []}}] * (len(body) // 2)}

    def bulk(self, *, body: str, params: Any) -> dict[str, Any]:
        actions = [json.loads(line) for line in body.splitlines()[::2]]
        self.asked += [next(iter(each.values()))["_index"] for each in actions]
        return {"errors": False}

    def delete_by_query(self, *, index: str, body: Any, params: Any) -> None:
        self.asked.append(index)


class Record:
    """An IndexRecord in memory."""

    def __init__(self, number: int = 0) -> None:
        self.number = number

    def exists(self) -> bool:
        return self.number > 0

    def changed(self) -> None:
        self.number += 1


def aliases(name: str) -> tuple[str, str]:
    return f"{name}-read", f"{name}-write"


@pytest.fixture
def client() -> Aliases:
    """Provide an OpenSearch after a change of the model."""
    return Aliases(
        chunks_former_16_000001=aliases("chunks-former-16"),
        chunks_model_16_000001=aliases("chunks-model-16"),
        others=("others-read", "others-write"),
    )


@pytest.fixture
def index(client: Aliases) -> OpenSearchChunkIndex:
    return OpenSearchChunkIndex(client, FakeEmbedder("model"), lambda: START)  # type: ignore[arg-type]  # stands for OpenSearch


@pytest.fixture
def upkeep(client: Aliases, index: OpenSearchChunkIndex) -> OpenSearchUpkeep:
    return OpenSearchUpkeep(client, index)  # type: ignore[arg-type]  # stands for OpenSearch


@pytest.mark.parametrize("vector", [None, vector_of("silk")])
def test_what_needs_no_model_asks_the_indexes_of_all(
    client: Aliases, index: OpenSearchChunkIndex, vector: tuple[float, ...] | None
) -> None:
    wanted = IndexQuery(
        tenant=TENANT, words=ParsedQuery.of("silk"), vector=vector, legs=BOTH, filters=Filters()
    )
    index.search(wanted, 100, plenty)
    names = {each["index"] for each in client.asked[::2]}
    sizes = {each["size"] for each in client.asked[1::2]}
    every = vector is None
    assert names == {"chunks-*-read" if every else "chunks-model-16-read"}
    assert sizes == {200 if every else 100}


def test_texts_are_asked_of_all_and_the_copy_written_later_is_read_last(
    client: Aliases, index: OpenSearchChunkIndex
) -> None:
    index.chunks(
        TENANT, [f"doc_1:1-x:{n:05}" for n in range(limits.CHUNKS_PER_FETCH)], None, plenty
    )
    header, body = client.asked
    assert header["index"] == "chunks-*-read"
    assert (body["size"], body["sort"]) == (200, [{"written_at": "asc"}])


def test_chunks_are_written_for_the_model_alone(
    client: Aliases, index: OpenSearchChunkIndex
) -> None:
    assert index.write([factories.indexed_chunk()], plenty) == {FIRST}
    assert client.asked == [FIRST]


@pytest.mark.parametrize(
    ("former", "number", "read", "number_after"),
    [
        pytest.param({}, 0, True, 1, id="the first index of a stage is searched"),
        pytest.param({}, 1, False, 1, id="what replaces a lost index isn't, before a rebuild"),
        pytest.param(
            {"chunks_former_16_000001": aliases("chunks-former-16")},
            1,
            True,
            2,
            id="a new model's index is searched beside the former one",
        ),
    ],
)
def test_a_write_creates_the_index_that_is_missing(
    former: dict[str, Sequence[str]], number: int, read: bool, number_after: int
) -> None:
    client, record = Aliases(**former), Record(number)
    index = OpenSearchChunkIndex(
        client,  # type: ignore[arg-type]  # stands for OpenSearch
        FakeEmbedder("model"),
        lambda: START,
        record=record,
    )
    assert index.targets(plenty) == {FIRST}
    assert ("chunks-model-16-read" in client.held[FIRST]) == read
    assert record.number == number_after
    upkeep = OpenSearchUpkeep(client, index)  # type: ignore[arg-type]  # stands for OpenSearch
    assert upkeep.begin(plenty) == (SECOND if read else FIRST)


def test_a_rebuild_of_a_lost_index_is_not_searched_before_its_end() -> None:
    client = Aliases()
    index = OpenSearchChunkIndex(client, FakeEmbedder("model"), lambda: START)  # type: ignore[arg-type]  # stands for OpenSearch
    upkeep = OpenSearchUpkeep(client, index)  # type: ignore[arg-type]  # stands for OpenSearch
    assert upkeep.begin(plenty) == FIRST
    assert client.held == {FIRST: {"chunks-model-16-write"}}
    upkeep.finish(FIRST, plenty)
    assert client.held == {FIRST: set(aliases("chunks-model-16"))}


def test_equal_searches_ask_the_same_copies_and_fail_rather_than_lack_hits(
    client: Aliases, index: OpenSearchChunkIndex
) -> None:
    def asked(text: str) -> Mapping[str, Any]:
        wanted = IndexQuery(
            tenant=TENANT,
            words=ParsedQuery.of(text),
            vector=vector_of("silk"),
            legs=BOTH,
            filters=Filters(),
        )
        client.asked.clear()
        index.search(wanted, 100, plenty)
        header: Mapping[str, Any] = client.asked[0]
        return header

    assert asked("silk") == asked("silk")
    assert asked("silk")["preference"] != asked("wool")["preference"]
    assert not asked("silk")["allow_no_indices"]
    assert not asked("silk")["allow_partial_search_results"]


def test_labels_and_removals_go_to_all(
    client: Aliases, index: OpenSearchChunkIndex, upkeep: OpenSearchUpkeep
) -> None:
    document = factories.document(chunk_count=2)
    index.relabel(document, plenty)
    assert sorted(client.asked) == [FORMER, FORMER, FIRST, FIRST]
    client.asked.clear()
    index.remove_others(document, plenty)
    version = IndexedVersion(tenant=TENANT, document_id="d", version="1-x", written_at=START)
    upkeep.remove([version], plenty)
    assert client.asked == ["chunks-*-write"] * 2


def test_an_index_that_is_complete_is_the_only_one_of_the_stage(
    client: Aliases, upkeep: OpenSearchUpkeep
) -> None:
    target = upkeep.begin(plenty)
    assert target == SECOND
    assert set(client.held) == {FORMER, FIRST, SECOND, "others"}
    upkeep.finish(target, plenty)
    assert client.held == {
        SECOND: set(aliases("chunks-model-16")),
        "others": {"others-read", "others-write"},
    }


def test_retiring_leaves_all_of_the_present_model(
    client: Aliases, upkeep: OpenSearchUpkeep
) -> None:
    target = upkeep.begin(plenty)
    upkeep.retire(plenty)
    assert set(client.held) == {FIRST, target, "others"}

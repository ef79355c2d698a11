"""Searches on an index with fewer fields: it serves them until a rebuilt index replaces it."""

from typing import Any
from uuid import uuid4

import pytest

from spinneret.aws.opensearch import opensearch_client
from spinneret.content.search.models import BOTH, Filters, IndexQuery, Leg, ParsedQuery
from spinneret.content.search.opensearch import OpenSearchChunkIndex
from spinneret.content.search.opensearch_mapping import IndexShape, definition
from spinneret.content.search.opensearch_upkeep import OpenSearchUpkeep
from spinneret.kernel.clock import utc_now
from tests import factories
from tests.conftest import Stack
from tests.contract.backends import PROMPT
from tests.fakes.search import FakeEmbedder, vector_of
from tests.fakes.time import plenty

pytestmark = pytest.mark.stack


def _without_shingles(dimension: int, shape: IndexShape, aliases: tuple[str, ...]) -> Any:
    found = definition(dimension, shape, aliases)
    del found["mappings"]["properties"]["text"]["fields"]
    return found


# covers S-02
def test_searches_are_answered_throughout_a_rebuild_and_then_use_the_new_field(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = opensearch_client(stack.opensearch_url, "none")
    prefix = f"contract-{uuid4().hex}"
    index = OpenSearchChunkIndex(client, FakeEmbedder(), utc_now, PROMPT, prefix=prefix)
    upkeep = OpenSearchUpkeep(client, index)
    chunks = [
        factories.indexed_chunk(text, tenant="acme", index=number)
        for number, text in enumerate(["silk spun", "spun silk"])
    ]

    def first() -> str:
        wanted = IndexQuery(
            tenant="acme",
            words=ParsedQuery.of("spun silk"),
            vector=vector_of("silk"),
            legs=BOTH,
            filters=Filters(),
        )
        found = index.search(wanted, 100, plenty)[Leg.KEYWORD]
        assert len(found) == len(chunks)
        return found[0].chunk_id

    try:
        with monkeypatch.context() as former:
            former.setattr("spinneret.content.search.opensearch.definition", _without_shingles)
            index.write(chunks, plenty)
        assert first() == chunks[0].id  # the scores are equal
        target = upkeep.begin(plenty)
        assert first() == chunks[0].id
        upkeep.write(chunks, target, plenty)
        assert first() == chunks[0].id
        upkeep.finish(target, plenty)
        assert first() == chunks[1].id
    finally:
        client.indices.delete(index=f"{prefix}-*")
        client.close()

"""What search needs from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from spinneret.content.documents.ports import ChunkWriter
from spinneret.content.search.models import Candidate, FoundChunk, Leg, Wanted, Words
from spinneret.kernel.clock import Remaining


class ChunkIndex(ChunkWriter, Protocol):
    """The index of chunks of one embedding model, to be searched too."""

    def search(
        self, wanted: Wanted, window: int, remaining: Remaining
    ) -> Mapping[Leg, Sequence[Candidate]]:
        """The best `window` chunks of each leg, best first, in one round trip.

        Without a vector there is the keyword leg alone.
        """
        ...

    def chunks(
        self, tenant: str, chunk_ids: Sequence[str], words: Words | None, remaining: Remaining
    ) -> Mapping[str, FoundChunk]:
        """What is shown of those of the tenant's chunks that exist, by id; with matches marked."""
        ...


class Reranker(Protocol):
    """Scores texts by how well they answer a query."""

    def rerank(self, query: str, texts: Sequence[str], remaining: Remaining) -> list[float]:
        """A score from 0 to 1 for each text, in their order.

        Raises DependencyUnavailable, at the latest when nothing remains, and EmbeddingRefused where
        the model can't take the texts.
        """
        ...

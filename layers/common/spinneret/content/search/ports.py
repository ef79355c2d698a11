"""What search needs from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from spinneret.content.documents.models import Document, IndexedChunk
from spinneret.content.documents.ports import ChunkWriter
from spinneret.content.search.models import (
    FoundChunk,
    IndexCoverage,
    IndexedVersion,
    IndexQuery,
    Leg,
    LegCandidate,
    ParsedQuery,
    VersionPage,
)
from spinneret.kernel.clock import Remaining


class ChunkIndex(ChunkWriter, Protocol):
    """The index of chunks of one embedding model, to be searched too."""

    def search(
        self, wanted: IndexQuery, window: int, remaining: Remaining
    ) -> Mapping[Leg, Sequence[LegCandidate]]:
        """The best `window` chunks of each leg, best first, in one round trip.

        Without a vector there is the keyword leg alone.
        """
        ...

    def chunks(
        self, tenant: str, chunk_ids: Sequence[str], words: ParsedQuery | None, remaining: Remaining
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


class IndexUpkeep(Protocol):
    """Making the index anew and clearing it. All methods raise DependencyUnavailable."""

    def begin(self, remaining: Remaining) -> str:
        """The index that is being made anew, or a new one; from now on writes go to it, too."""
        ...

    def write(self, chunks: Sequence[IndexedChunk], target: str, remaining: Remaining) -> None:
        """Write chunks into one index only."""
        ...

    def held(
        self, target: str, documents: Sequence[Document], remaining: Remaining
    ) -> Mapping[str, IndexCoverage]:
        """Document id → what an index has of its current version; at most 1000."""
        ...

    def trim(self, document: Document, target: str, remaining: Remaining) -> None:
        """Forget chunks of its version in one index beyond as many as it has."""
        ...

    def finish(self, target: str, remaining: Remaining) -> None:
        """Search `target` from now on, and forget all others, those of a former model too."""
        ...

    def retire(self, remaining: Remaining) -> None:
        """Forget the indexes of a former model: all documents are in the present one's."""
        ...

    def reading(self, remaining: Remaining) -> str:
        """The index that is searched."""
        ...

    def versions(self, after: Mapping[str, str] | None, remaining: Remaining) -> VersionPage:
        """Versions that the index has chunks of, some at a time."""
        ...

    def remove(self, versions: Sequence[IndexedVersion], remaining: Remaining) -> None:
        """Forget the chunks of these versions."""
        ...

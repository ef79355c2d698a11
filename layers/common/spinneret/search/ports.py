"""What search needs from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from spinneret.documents.models import TokenSpan
from spinneret.search.models import Candidate, EmbedderInfo, IndexedChunk, Leg


class Embedder(Protocol):
    """Turns texts into vectors. All methods raise DependencyUnavailable."""

    def info(self) -> EmbedderInfo:
        """Model, dimension and bounds."""
        ...

    def tokenize(self, text: str) -> list[TokenSpan]:
        """The model's own tokens, without special ones, as character ranges of `text`."""
        ...

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """One vector of unit length per text, in order."""
        ...


class ChunkIndex(Protocol):
    """The index of chunks of one embedding model. All methods raise DependencyUnavailable."""

    def write(self, chunks: Sequence[IndexedChunk]) -> None:
        """Write all chunks, or raise; on return they can be searched."""
        ...

    def remove_version(self, tenant: str, document_id: str, version: str) -> None:
        """Forget the chunks of a version that is no longer shown."""
        ...

    def search(
        self, tenant: str, text: str, vector: Sequence[float], window: int
    ) -> Mapping[Leg, Sequence[Candidate]]:
        """The best `window` chunks of each leg, best first, in one round trip."""
        ...

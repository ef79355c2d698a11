"""Ports of search."""

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
from spinneret.kernel.errors import DependencyUnavailable


class IndexMissing(DependencyUnavailable):
    """Raised if the index to search was lost or never created."""

    def __init__(self) -> None:
        super().__init__("opensearch", "the index is missing")


class ChunkIndex(ChunkWriter, Protocol):
    """Searchable chunk index of one embedding model."""

    def search(
        self, wanted: IndexQuery, window: int, remaining: Remaining
    ) -> Mapping[Leg, Sequence[LegCandidate]]:
        """Return the best `window` chunks of each leg, best first, in one round trip.

        Without a vector, only the keyword leg is searched. Raises IndexMissing, and
        DependencyUnavailable if any part of the index doesn't respond in time.
        """

    def chunks(
        self, tenant: str, chunk_ids: Sequence[str], words: ParsedQuery | None, remaining: Remaining
    ) -> Mapping[str, FoundChunk]:
        """Return data of the tenant's existing chunks by id, with matches of `words` marked.

        Raises as `search`.
        """

    def totals(self, tenant: str, remaining: Remaining) -> tuple[int, int]:
        """Return the number of a tenant's documents and chunks, without deleted documents.

        Documents are approximate over 3,000. Raises DependencyUnavailable.
        """


class Reranker(Protocol):
    """Scores texts by how well they answer a query."""

    def rerank(self, query: str, texts: Sequence[str], remaining: Remaining) -> list[float]:
        """Return a score from 0 to 1 for each text, in order.

        Raises DependencyUnavailable, at the latest when no time remains, and EmbeddingRefused if
        the model rejects the texts.
        """


class IndexUpkeep(Protocol):
    """Rebuilds and cleans up the index. All methods raise DependencyUnavailable."""

    def begin(self, remaining: Remaining) -> str:
        """Return the index under construction, or create one; writes then go to it, too.

        Searches don't use it before `finish`, even if there is no other index.
        """

    def write(self, chunks: Sequence[IndexedChunk], target: str, remaining: Remaining) -> None:
        """Write chunks into one index only; they are searchable some seconds later."""

    def held(
        self, target: str, documents: Sequence[Document], remaining: Remaining
    ) -> Mapping[str, IndexCoverage]:
        """Return an index's coverage of up to 1000 documents' current versions, by document id."""

    def trim(self, document: Document, target: str, remaining: Remaining) -> None:
        """Remove searchable surplus chunks of the document's version from one index."""

    def finish(self, target: str, remaining: Remaining) -> None:
        """Switch searches to `target` and delete all other indexes, including a former model's."""

    def retire(self, remaining: Remaining) -> None:
        """Delete a former model's indexes, once all documents are in the current model's."""

    def reading(self, remaining: Remaining) -> str:
        """Return the name of the index that is searched, which is created if none ever was.

        Raises IndexMissing if it is lost.
        """

    def totals(self, remaining: Remaining) -> tuple[int, int]:
        """Return the numbers of documents (about 1 % exact) and of chunks that are searched."""

    def versions(self, after: Mapping[str, str] | None, remaining: Remaining) -> VersionPage:
        """Return a page of the versions with chunks in the index."""

    def remove(self, versions: Sequence[IndexedVersion], remaining: Remaining) -> None:
        """Remove the chunks of these versions."""

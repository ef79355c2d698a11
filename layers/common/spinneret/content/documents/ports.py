"""What documents need from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spinneret.content.chunking.models import TokenSpan
from spinneret.content.documents.models import Document, EmbedderInfo, IndexedChunk
from spinneret.jobs.models import Lease
from spinneret.kernel.clock import Remaining


class DocumentStore(Protocol):
    """Document rows: the truth about which version of a page is shown."""

    def get(self, tenant: str, document_id: str) -> Document | None:
        """Read one document, consistently."""
        ...

    def current_versions(self, tenant: str, document_ids: list[str]) -> dict[str, str]:
        """Id → version for those that exist, at most 100 ids."""
        ...

    def commit(self, document: Document, replaces: Document | None, lease: Lease) -> None:
        """Make `document` the current version, in place of `replaces` (None: the first version).

        Raises LeaseLost when the claim is over, VersionRaced when another version came first.
        """
        ...


class ContentStore(Protocol):
    """Bodies by content hash."""

    def put(self, tenant: str, text: str) -> str:
        """Store a text and answer its key, which is the same for the same text."""
        ...

    def get(self, key: str) -> str:
        """Read a text back."""
        ...


class ChunkWriter(Protocol):
    """The index of chunks of one embedding model.

    All methods raise DependencyUnavailable, at the latest when nothing remains.
    """

    def write(self, chunks: Sequence[IndexedChunk], remaining: Remaining) -> None:
        """Write all chunks, or raise; on return they can be searched."""
        ...

    def remove_version(
        self, tenant: str, document_id: str, version: str, remaining: Remaining
    ) -> None:
        """Forget the chunks of a version that is no longer shown."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors.

    All methods raise DependencyUnavailable, at the latest when nothing remains.
    """

    def info(self, remaining: Remaining) -> EmbedderInfo:
        """Model, dimension and bounds."""
        ...

    def tokenize(self, text: str, remaining: Remaining) -> list[TokenSpan]:
        """The model's own tokens, without special ones, as character ranges of `text`."""
        ...

    def embed(self, texts: Sequence[str], remaining: Remaining) -> list[tuple[float, ...]]:
        """One vector of unit length per text, in order."""
        ...


class VersionRaced(Exception):
    """Another job committed a version of the same document meanwhile: start again from it."""

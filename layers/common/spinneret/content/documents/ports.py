"""What documents need from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from spinneret.content.chunking.models import TokenSpan
from spinneret.content.documents.models import (
    Document,
    DocumentFilter,
    EmbedderInfo,
    IndexedChunk,
    ScanCheckpoint,
    ScanPage,
    StoredBody,
    StoredPart,
    UnusedBody,
    VersionVisibility,
)
from spinneret.jobs.models import Lease
from spinneret.kernel.clock import Remaining
from spinneret.kernel.paging import Page


class DocumentStore(Protocol):
    """Document rows: the truth about which version of a page is shown."""

    def get(self, tenant: str, document_id: str) -> Document | None:
        """Read one document, consistently."""
        ...

    def shown(self, tenant: str, document_ids: Sequence[str]) -> dict[str, VersionVisibility]:
        """Id → what a search may show, for those that exist and aren't deleted; at most 100."""
        ...

    def generation(self, tenant: str) -> str:
        """Names the state of the tenant's documents: another after every commit and removal."""
        ...

    def page(self, listing: DocumentFilter, after: str | None, limit: int) -> Page[Document]:
        """Up to `limit` documents below the place `after`, newest first, at most 100.

        Only what is looked up of the listing holds of them. Eventually consistent in which there
        are; each as it stands.
        """
        ...

    def commit(
        self, document: Document, replaces: Document | None, lease: Lease | None = None
    ) -> None:
        """Write `document` in place of `replaces` (None: the first version).

        Raises LeaseLost when the claim is over, VersionRaced when another change came first,
        CollectionGone when it enters a collection that was deleted.
        """
        ...

    def remove(self, document: Document) -> bool:
        """Remove it for ever; False when it isn't what stands any more."""
        ...


class DocumentScan(Protocol):
    """All tenants' rows, for upkeep. All methods raise DependencyUnavailable."""

    def scan(self, after: Mapping[str, Any] | None, limit: int) -> ScanPage:
        """Some rows; eventually consistent."""
        ...

    def unreferenced_bodies(self, bodies: Sequence[StoredBody]) -> list[StoredBody]:
        """Those that no document has, or has had since they were last forgotten."""
        ...

    def unnamed(self, parts: Sequence[StoredPart]) -> list[StoredPart]:
        """Those that no row of their document names."""
        ...

    def forget_body(self, body: UnusedBody) -> bool:
        """Forget that there was one; False when a document has it again."""
        ...

    def place(self, task: str, owner: str, now: datetime, until: datetime) -> ScanCheckpoint | None:
        """Where a task goes on, held by `owner` until then; None while another has it."""
        ...

    def keep_place(self, task: str, owner: str, place: ScanCheckpoint, *, release: bool) -> bool:
        """Store where the task goes on; False when it was lost to another owner."""
        ...


class ContentStore(Protocol):
    """Bodies by content hash."""

    def put(self, tenant: str, text: str) -> str:
        """Store a text and answer its key, which is the same for the same text."""
        ...

    def get(self, key: str) -> str:
        """Read a text back; raises KeyError where it is gone."""
        ...

    def get_small(self, key: str, most: int) -> str | None:
        """Read a text of at most so many bytes back; None for a larger one, which isn't read.

        Raises KeyError where it is gone.
        """
        ...

    def put_upload(self, tenant: str, body: bytes) -> str:
        """Store what was uploaded until its job has read it, ten days at most; answers its key."""
        ...

    def get_upload(self, key: str) -> bytes:
        """Read it back; raises KeyError where it is gone."""
        ...

    def exists(self, key: str) -> bool:
        """Whether a text is there."""
        ...

    def remove(self, key: str, before: datetime) -> None:
        """Remove a text or a part, as far as it was stored before then."""
        ...

    def stored(self, after: str | None, limit: int) -> Page[StoredBody]:
        """Some of all tenants' texts, by key; nothing else that the bucket has."""
        ...

    def stored_parts(self, after: str | None, limit: int) -> Page[StoredPart]:
        """Some of what is stored for documents beside their texts, by key."""
        ...

    def remove_parts(self, tenant: str, document_id: str, before: datetime) -> None:
        """Remove what was stored by then for this document beside its text
        (`rules.parts_prefix`)."""
        ...

    def url(self, key: str, *, seconds: int) -> str:
        """Where whoever has this address can fetch a text for so long."""
        ...


class ChunkWriter(Protocol):
    """The index of chunks of one embedding model.

    While the index is made anew there are two of it, and every write goes to both. Labels and
    removals reach a former model's index too, as long as there is one. All methods raise
    DependencyUnavailable, at the latest when nothing remains.
    """

    def targets(self, remaining: Remaining) -> frozenset[str]:
        """What is written at present."""
        ...

    def write(
        self,
        chunks: Sequence[IndexedChunk],
        remaining: Remaining,
        into: frozenset[str] | None = None,
    ) -> frozenset[str]:
        """Write all chunks, or raise; on return they can be searched.

        `into` are targets, by default all; answers where the chunks now are. Raises ContentRefused
        for a chunk that the index can't hold.
        """
        ...

    def relabel(self, document: Document, remaining: Remaining) -> None:
        """Give the chunks of the document's version its labels; on return they can be searched.

        Chunks that the index lacks are passed over.
        """
        ...

    def remove_others(
        self, document: Document, remaining: Remaining, *, also_current: bool = False
    ) -> None:
        """Forget the document's versions that were made for its sequence number or an earlier one.

        None of them can become current any more, but for the current one, which is kept unless it
        is named. Versions of jobs that still run have later numbers.
        """
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


class CollectionGone(Exception):
    """The collection that a document was to enter was deleted meanwhile."""


class VersionRaced(Exception):
    """Another job committed a version of the same document meanwhile: start again from it."""

"""Ports of documents."""

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
    UrlBusy,
    UrlLease,
    UrlTaken,
    VersionVisibility,
)
from spinneret.jobs.models import Lease
from spinneret.kernel.clock import Remaining
from spinneret.kernel.paging import Page


class DocumentStore(Protocol):
    """Store of document rows, the authority on which version of a page is current."""

    def get(self, tenant: str, document_id: str) -> Document | None:
        """Return the document (consistent read), or None."""

    def shown(self, tenant: str, document_ids: Sequence[str]) -> dict[str, VersionVisibility]:
        """Return visibility data of existing, undeleted documents by id; accept at most 100 ids."""

    def generation(self, tenant: str) -> str:
        """Return a token of the tenant's documents and the index.

        It changes with every commit and removal, and when searches change to another index.
        """

    def page(self, listing: DocumentFilter, after: str | None, limit: int) -> Page[Document]:
        """Return up to `limit` documents after position `after`, newest first, at most 100.

        Applies only the filter field that selects the index. The selection is eventually
        consistent; each document is read consistently.
        """

    def take_url(self, lease: UrlLease, now: datetime) -> UrlTaken | UrlBusy:
        """Take the lease of a URL, unless another holder has it until later than `now`.

        Changes neither the document nor the generation.
        """

    def release_url(self, taken: UrlTaken) -> None:
        """End a lease without a commit; do nothing if it was lost."""

    def commit(
        self,
        document: Document,
        replaces: Document | None,
        lease: Lease | None = None,
        url: UrlLease | None = None,
    ) -> None:
        """Replace `replaces` (None: no document yet) by `document`.

        Ends the lease `url` of the document's URL; any other lease stays. Raises LeaseLost if the
        claim has ended, UrlLeaseLost if another worker took the URL, VersionRaced if another change
        came first, and CollectionGone if the document enters a deleted collection.
        """

    def many(self, keys_of: Sequence[tuple[str, str]]) -> list[Document]:
        """Return the existing documents of these tenants and ids (consistent read)."""

    def remove(self, document: Document, now: datetime) -> bool:
        """Remove a document permanently; return False if it changed meanwhile or is fetched."""


class IndexRecord(Protocol):
    """Record of the indexes that searches have used. All methods raise
    DependencyUnavailable."""

    def exists(self) -> bool:
        """Return whether searches ever had an index (consistent read)."""

    def changed(self) -> None:
        """Record that searches use another index; former results then leave the caches."""


class DocumentScan(Protocol):
    """Scan of all tenants' rows, for maintenance. All methods raise DependencyUnavailable."""

    def scan(self, after: Mapping[str, Any] | None, limit: int) -> ScanPage:
        """Return a page of rows (eventually consistent)."""

    def unreferenced_bodies(self, bodies: Sequence[StoredBody]) -> list[StoredBody]:
        """Return the bodies that have no counter: unused since the counter was last removed."""

    def unnamed(self, parts: Sequence[StoredPart]) -> list[StoredPart]:
        """Return the parts that their document's row doesn't reference."""

    def forget_body(self, body: UnusedBody) -> bool:
        """Remove the counter of a body; return False if a document uses the body again."""

    def place(self, task: str, owner: str, now: datetime, until: datetime) -> ScanCheckpoint | None:
        """Lock a task for `owner` until `until`; return its checkpoint, or None if another owner
        has it."""

    def keep_place(self, task: str, owner: str, place: ScanCheckpoint, *, release: bool) -> bool:
        """Store the task's checkpoint; return False if another owner took the lock."""


class ContentStore(Protocol):
    """Store of bodies by content hash."""

    def put(self, tenant: str, text: str) -> str:
        """Store a text; return its key, which is the same for equal texts."""

    def get(self, key: str) -> str:
        """Return a text; raise KeyError if missing."""

    def get_small(self, key: str, most: int) -> str | None:
        """Return a text of at most `most` bytes; return None for a larger one without reading it.

        Raises KeyError if missing.
        """

    def put_upload(self, tenant: str, body: bytes) -> str:
        """Store an upload until its job has read it, at most ten days; return its key."""

    def get_upload(self, key: str) -> bytes:
        """Return an upload; raise KeyError if missing."""

    def exists(self, key: str) -> bool:
        """Return whether a text exists."""

    def remove(self, key: str, before: datetime) -> None:
        """Remove versions of a text or part that were stored before `before`."""

    def stored(self, after: str | None, limit: int) -> Page[StoredBody]:
        """Return a page of all tenants' texts by key, without other objects of the bucket."""

    def stored_parts(self, after: str | None, limit: int) -> Page[StoredPart]:
        """Return a page of all tenants' document parts by key."""

    def remove_parts(self, tenant: str, document_id: str, before: datetime) -> None:
        """Remove the parts of a document (`rules.parts_prefix`) stored before `before`."""

    def url(self, key: str, *, seconds: int) -> str:
        """Return a presigned URL valid for `seconds`."""


class ChunkWriter(Protocol):
    """Writes the chunk index of one embedding model.

    During a rebuild there are two indexes, and every write goes to both. Labels and removals also
    reach a former model's index while it exists. All methods raise DependencyUnavailable, at the
    latest when no time remains.
    """

    def targets(self, remaining: Remaining) -> frozenset[str]:
        """Return the names of the indexes that are currently written."""

    def write(
        self,
        chunks: Sequence[IndexedChunk],
        remaining: Remaining,
        into: frozenset[str] | None = None,
    ) -> frozenset[str]:
        """Write all chunks, or raise; afterwards they are searchable.

        `into` are target indexes, by default all. Return the indexes that were written. Raises
        ContentRefused for a chunk that the index can't store.
        """

    def relabel(self, document: Document, remaining: Remaining) -> None:
        """Update the labels of the version's chunks; afterwards they are searchable.

        Chunks missing from the index are skipped.
        """

    def remove_others(
        self, document: Document, remaining: Remaining, *, also_current: bool = False
    ) -> None:
        """Remove the document's versions up to its sequence number.

        Keeps the current version unless `also_current`. The other ones can't become current, since
        versions of running jobs have later numbers.
        """


class Embedder(Protocol):
    """Converts texts to vectors.

    All methods raise DependencyUnavailable, at the latest when no time remains.
    """

    def info(self, remaining: Remaining) -> EmbedderInfo:
        """Return model, dimension and limits."""

    def tokenize(self, text: str, remaining: Remaining) -> list[TokenSpan]:
        """Return the model's tokens as character ranges of `text`, without special tokens."""

    def embed(self, texts: Sequence[str], remaining: Remaining) -> list[tuple[float, ...]]:
        """Return one unit vector per text, in order."""


class CollectionGone(Exception):
    """Raised if the collection that a document enters was deleted meanwhile."""


class UrlLeaseLost(Exception):
    """Raised if the lease of the document's URL is held by another worker, or by none."""


class VersionRaced(Exception):
    """Raised if another job committed a version of the document meanwhile; retry from that
    version."""

"""Data classes of documents and their indexed chunks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from spinneret.content.chunking.models import USUAL_CHUNKING, Chunking, ChunkType
from spinneret.content.extraction.models import Extraction, Metadata


class DocumentSource(StrEnum):
    """Channel through which a document arrived."""

    CRAWL = "crawl"
    UPLOAD = "upload"
    S3 = "s3"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The HTTP response that a crawled document was read from, kept for revalidation."""

    asked: str
    """Identifies the request and how its response was read."""
    headers: Mapping[str, str]
    """Validators and crawler directives of the response; names in lower case."""
    media_type: str
    parts_key: str
    """Key of the data that is stored in addition to the document's text."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A document's row. `version` names the chunks that searches may return."""

    tenant: str
    id: str
    url: str
    domain: str
    title: str | None
    language: str
    metadata: Metadata
    content_hash: str
    content_key: str
    sequence: int
    """Incremented by every change of the row; each update is conditional on it."""
    version: str
    chunk_count: int
    token_count: int
    embedding_model: str
    job_id: str
    created_at: datetime
    crawled_at: datetime
    changed_at: datetime
    updated_at: datetime
    """Time of the last change of content, labels or deletion."""
    extraction: Extraction | None = None
    """Extraction details; None for text and XML."""
    chunking: Chunking = USUAL_CHUNKING
    """Chunking options as requested, before the embedder's limit applies."""
    source: DocumentSource = DocumentSource.CRAWL
    parent_url: str | None = None
    """Page whose link led to this one."""
    collection_id: str | None = None
    tag_ids: tuple[str, ...] = ()
    annotations: Mapping[str, Any] = field(default_factory=dict)
    """The tenant's free metadata (JSON)."""
    origin: Origin | None = None
    deleted_at: datetime | None = None
    """Time of deletion. Deleted documents are hidden from searches and lists, and restorable for 30
    days."""


@dataclass(frozen=True, kw_only=True)
class UrlLease:
    """The right of one worker to fetch a URL and to commit what it fetched.

    It is stored in the row of the URL's document, or in a row of its own until there is one.
    """

    tenant: str
    document_id: str
    """Id of the URL's document, which needn't exist."""
    holder: str
    """Names the claim of a job or page; no two claims have the same name."""
    until: datetime
    """Time after which other workers may take the lease."""


@dataclass(frozen=True, kw_only=True)
class UrlTaken:
    """A granted lease, and the document at that moment."""

    lease: UrlLease
    document: Document | None


@dataclass(frozen=True, kw_only=True)
class UrlBusy:
    """Another worker holds the lease of the URL, at most until `until`."""

    until: datetime


@dataclass(frozen=True, kw_only=True)
class VersionVisibility:
    """Fields that decide whether a hit may be returned."""

    version: str
    collection_id: str | None
    tag_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DocumentFilter:
    """Filter of a document list; None means all.

    The first given of collection, tag and host selects an index; the other fields are compared.
    """

    tenant: str
    collection_id: str | None = None
    tag_id: str | None = None
    domain: str | None = None
    source: DocumentSource | None = None
    language: str | None = None
    date_from: datetime | None = None
    date_to: datetime | None = None
    """`date_from` and `date_to` bound the last change of content, both inclusive."""
    deleted: bool = False
    """Whether to list deleted documents instead of the others."""


@dataclass(frozen=True, kw_only=True)
class EmbedderInfo:
    """The embedder's properties (TEI `/info`)."""

    model_id: str
    dimension: int
    max_input_tokens: int
    max_batch: int


@dataclass(frozen=True, kw_only=True)
class IndexedMetadata:
    """Indexed fields of a document that may change without a new version."""

    title: str | None
    collection_id: str | None
    tag_ids: tuple[str, ...]
    deleted: bool


@dataclass(frozen=True, kw_only=True)
class IndexedChunk:
    """A chunk as stored in the index."""

    tenant: str
    document_id: str
    version: str
    index: int
    text: str
    section: str | None
    type: ChunkType
    start: int
    end: int
    token_count: int
    url: str
    domain: str
    source: DocumentSource
    language: str
    model: str
    signature: str | None
    """See `signatures`."""
    changed_at: str
    labels: IndexedMetadata
    vector: tuple[float, ...]

    @property
    def id(self) -> str:
        """Id with document and version, so that outdated versions can't overwrite the current
        one."""
        return chunk_id(self.document_id, self.version, self.index)


def chunk_id(document_id: str, version: str, index: int) -> str:
    """Return the id of a chunk of a document version."""
    return f"{document_id}:{version}:{index:05d}"


def chunk_parts(of: str) -> tuple[str, str, int]:
    """Return document, version and index of a chunk id."""
    document_id, version, index = of.rsplit(":", 2)
    return document_id, version, int(index)


def labels_of(document: Document) -> IndexedMetadata:
    """Return a document's current labels."""
    return IndexedMetadata(
        title=document.title,
        collection_id=document.collection_id,
        tag_ids=document.tag_ids,
        deleted=document.deleted_at is not None,
    )


@dataclass(frozen=True, kw_only=True)
class UnusedBody:
    """A body that its last document has released."""

    tenant: str
    key: str
    since: datetime


@dataclass(frozen=True, kw_only=True)
class StoredBody:
    """A body in the bucket, used by a document or not."""

    tenant: str
    key: str
    stored_at: datetime


@dataclass(frozen=True, kw_only=True)
class StoredPart:
    """Additional data of a document in the bucket, referenced by its row or not."""

    tenant: str
    document_id: str
    key: str
    stored_at: datetime


@dataclass(frozen=True, kw_only=True)
class ScanPage:
    """A page of all tenants' rows, unordered. `after` is the position to continue after; None at
    the end."""

    documents: tuple[Document, ...]
    bodies: tuple[UnusedBody, ...]
    leases: tuple[UrlLease, ...]
    """Leases of URLs without a document."""
    after: Mapping[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class ScanCheckpoint:
    """Checkpoint of a task over all rows."""

    after: Mapping[str, Any] | None = None
    target: str | None = None
    """Name of the index under construction."""
    done: int = 0
    """Number of documents processed so far."""
    part: str = ""
    """The part of a task with several parts that `after` refers to."""

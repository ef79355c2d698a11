"""Documents and their indexed chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from spinneret.content.chunking.models import USUAL_CHUNKING, Chunking, ChunkType
from spinneret.content.extraction.models import Extraction, Metadata


class DocumentSource(StrEnum):
    """How a document came in."""

    CRAWL = "crawl"
    UPLOAD = "upload"
    S3 = "s3"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The answer that a crawled document was read from; by it its host can be asked for changes."""

    asked: str
    """Names the request, and how its answer was read."""
    headers: Mapping[str, str]
    """Its validators, and what it asked of crawlers; names in lower case."""
    media_type: str
    parts_key: str
    """Of what is kept of it beside the document's text."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A page as the index knows it; `version` names the chunks that a search may show."""

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
    """Goes up by one with every change of the row; the condition of the next one."""
    version: str
    chunk_count: int
    token_count: int
    embedding_model: str
    job_id: str
    created_at: datetime
    crawled_at: datetime
    changed_at: datetime
    updated_at: datetime
    """Of the last change of anything: content, labels, deletion."""
    extraction: Extraction | None = None
    """How the content was found; None for text and XML."""
    chunking: Chunking = USUAL_CHUNKING
    """How it was cut, before the embedder's bound."""
    source: DocumentSource = DocumentSource.CRAWL
    parent_url: str | None = None
    """The page whose link led here."""
    collection_id: str | None = None
    tag_ids: tuple[str, ...] = ()
    annotations: Mapping[str, Any] = field(default_factory=dict)
    """Free metadata of the tenant's own, JSON."""
    origin: Origin | None = None
    deleted_at: datetime | None = None
    """Since then no search and no list shows it; it can be restored for 30 days."""


@dataclass(frozen=True, kw_only=True)
class VersionVisibility:
    """What decides whether a hit of the index may be shown."""

    version: str
    collection_id: str | None
    tag_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DocumentFilter:
    """Which of a tenant's documents a list shows; None means all.

    One of collection, tag and host is looked up, in this order; what else is given is compared.
    """

    tenant: str
    collection_id: str | None = None
    tag_id: str | None = None
    domain: str | None = None
    source: DocumentSource | None = None
    language: str | None = None
    date_from: datetime | None = None
    date_to: datetime | None = None
    """Of the last change of content, both inclusive."""
    deleted: bool = False
    """Only those that are deleted, instead of those that aren't."""


@dataclass(frozen=True, kw_only=True)
class EmbedderInfo:
    """What the embedder says of itself (TEI `/info`)."""

    model_id: str
    dimension: int
    max_input_tokens: int
    max_batch: int


@dataclass(frozen=True, kw_only=True)
class IndexedMetadata:
    """What the index holds of a document that may change without a new version."""

    title: str | None
    collection_id: str | None
    tag_ids: tuple[str, ...]
    deleted: bool


@dataclass(frozen=True, kw_only=True)
class IndexedChunk:
    """A chunk as the index holds it."""

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
        """Holds document and version: an outdated version can't overwrite the current one."""
        return chunk_id(self.document_id, self.version, self.index)


def chunk_id(document_id: str, version: str, index: int) -> str:
    """Names one chunk of one version."""
    return f"{document_id}:{version}:{index:05d}"


def chunk_parts(of: str) -> tuple[str, str, int]:
    """Document, version and index: the inverse of `chunk_id`."""
    document_id, version, index = of.rsplit(":", 2)
    return document_id, version, int(index)


def labels_of(document: Document) -> IndexedMetadata:
    """A document's labels as they stand."""
    return IndexedMetadata(
        title=document.title,
        collection_id=document.collection_id,
        tag_ids=document.tag_ids,
        deleted=document.deleted_at is not None,
    )


@dataclass(frozen=True, kw_only=True)
class UnusedBody:
    """A body that no document has any more."""

    tenant: str
    key: str
    since: datetime


@dataclass(frozen=True, kw_only=True)
class StoredBody:
    """A body as it is stored, whether or not a document has it."""

    tenant: str
    key: str
    stored_at: datetime


@dataclass(frozen=True, kw_only=True)
class StoredPart:
    """What is kept of a document beside its text, whether or not its row names it."""

    tenant: str
    document_id: str
    key: str
    stored_at: datetime


@dataclass(frozen=True, kw_only=True)
class ScanPage:
    """Rows of all tenants in no order, and the place to go on after; None at the end."""

    documents: tuple[Document, ...]
    bodies: tuple[UnusedBody, ...]
    after: Mapping[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class ScanCheckpoint:
    """Where a task over all rows goes on."""

    after: Mapping[str, Any] | None = None
    target: str | None = None
    """The index that is being made."""
    done: int = 0
    """Documents so far."""
    part: str = ""
    """Of a task that has several, the one that `after` is a place in."""

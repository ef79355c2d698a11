"""Documents and their indexed chunks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from spinneret.content.chunking.models import USUAL_CHUNKING, Chunking, ChunkType
from spinneret.content.extraction.models import Extraction, Metadata


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
    """Goes up by one with every new version; the condition of the next one."""
    version: str
    chunk_count: int
    token_count: int
    embedding_model: str
    job_id: str
    created_at: datetime
    crawled_at: datetime
    changed_at: datetime
    extraction: Extraction | None = None
    """How the content was found; None for text and XML."""
    chunking: Chunking = USUAL_CHUNKING
    """How it was cut, before the embedder's bound."""
    collection_id: str | None = None
    tag_ids: tuple[str, ...] = ()
    """In the order in which they were given, each once."""


@dataclass(frozen=True, kw_only=True)
class EmbedderInfo:
    """What the embedder says of itself (TEI `/info`)."""

    model_id: str
    dimension: int
    max_input_tokens: int
    max_batch: int


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
    title: str | None
    crawled_at: str
    vector: tuple[float, ...]

    @property
    def id(self) -> str:
        """Holds document and version: an outdated version can't overwrite the current one."""
        return f"{self.document_id}:{self.version}:{self.index:05d}"

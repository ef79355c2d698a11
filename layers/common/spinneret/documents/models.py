"""Documents, their metadata and their chunks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ChunkType(StrEnum):
    """What a chunk mostly holds."""

    PROSE = "prose"
    CODE = "code"
    TABLE = "table"
    LIST = "list"


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """What a page says of itself; None and empty mean that it doesn't say."""

    author: str | None = None
    published_at: str | None = None
    description: str | None = None
    keywords: tuple[str, ...] = ()
    og_image: str | None = None
    canonical_url: str | None = None


@dataclass(frozen=True, kw_only=True)
class Content:
    """The main content of a page, ready to be stored and chunked."""

    title: str | None
    markdown: str
    language: str
    """The page's declared language (BCP 47, primary subtag), `und` when it declares none."""
    metadata: Metadata = Metadata()
    links: tuple[str, ...] = ()
    """Absolute http(s) URLs of the whole page, in order, without duplicates or fragments."""


@dataclass(frozen=True, kw_only=True)
class TokenSpan:
    """One token as characters [start, end) of the text that was tokenised."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A slice of a document's markdown: `markdown[start:end] == text`."""

    index: int
    start: int
    end: int
    text: str
    token_count: int
    section: str | None
    """The nearest heading above the chunk's start (or the one it starts with)."""
    type: ChunkType


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

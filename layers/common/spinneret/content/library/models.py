"""Data classes of the document library."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from spinneret.content.documents.models import Document


class MediaType(StrEnum):
    """Media types that uploads may have."""

    PLAIN = "text/plain"
    MARKDOWN = "text/markdown"
    HTML = "text/html"
    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A document uploaded by a tenant."""

    url: str | None
    """None for a document identified by its content."""
    title: str | None
    body: bytes = field(repr=False)
    media_type: MediaType
    collection_id: str | None
    tags: tuple[str, ...]
    """Tag names."""
    annotations: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class DocumentUpdate:
    """Changes to a document's labels; None leaves a field unchanged."""

    annotations: Mapping[str, Any] | None = None
    """Merged into the existing annotations; a null value removes its name (RFC 7396)."""
    moves: bool = False
    collection_id: str | None = None
    """New collection if `moves`; None removes the document from its collection."""
    tags: tuple[str, ...] | None = None
    """Names of all tags after the change."""


@dataclass(frozen=True, kw_only=True)
class DocumentWithTags:
    """A document with its tags' names by id; removed tags have no name."""

    document: Document
    tag_names: Mapping[str, str]

"""Values of a tenant's documents as they are read and uploaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from spinneret.content.documents.models import Document


class MediaType(StrEnum):
    """What an upload may be."""

    PLAIN = "text/plain"
    MARKDOWN = "text/markdown"
    HTML = "text/html"
    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A document that a tenant brings."""

    url: str | None
    """None for one that is named by what it holds."""
    title: str | None
    body: bytes = field(repr=False)
    media_type: MediaType
    collection_id: str | None
    tags: tuple[str, ...]
    """Names."""
    annotations: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class DocumentUpdate:
    """What a tenant changes of a document; None leaves it as it is."""

    annotations: Mapping[str, Any] | None = None
    """Merged into those that there are; a value of null removes its name (RFC 7396)."""
    moves: bool = False
    collection_id: str | None = None
    """Where it moves, if it does; None for out of every collection."""
    tags: tuple[str, ...] | None = None
    """The names of all that it is to have."""


@dataclass(frozen=True, kw_only=True)
class DocumentWithTags:
    """A document with the names of its tags, by id; tags that are gone have none."""

    document: Document
    tag_names: Mapping[str, str]

"""Identity and comparison of a tenant's documents: pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from spinneret.content.documents.models import Document, DocumentFilter
from spinneret.kernel import bounds
from spinneret.kernel.errors import UrlInvalid, ValidationFailed
from spinneret.web.fetching.urls import cache_url, canonical_url, parse_url

UPLOAD_SCHEME: Final = "upload://"
UPLOAD_HOST: Final = "upload"
"""The host of documents that are on no host."""


def uploaded_url(title: str | None, body: bytes) -> str:
    """The URL of an upload without one: the same content is the same document."""
    digest = hashlib.sha256((title or "").encode() + b"\n" + body).hexdigest()
    return f"{UPLOAD_SCHEME}{digest[:32]}"


def known_url(text: str) -> str:
    """The form under which a document's URL is kept; raises UrlInvalid."""
    if text.startswith(UPLOAD_SCHEME):
        name = text.removeprefix(UPLOAD_SCHEME)
        if not name or any(character.isspace() for character in name):
            raise UrlInvalid("an upload's URL names something, without blanks")
        return text
    return canonical_url(parse_url(text)).text


def url_key(url: str) -> str:
    """What a document's identity follows from (`documents.rules.document_id`)."""
    return url if url.startswith(UPLOAD_SCHEME) else cache_url(parse_url(url))


def host_of(url: str) -> str:
    """The host of a document's URL."""
    return UPLOAD_HOST if url.startswith(UPLOAD_SCHEME) else parse_url(url).host


def matches(document: Document, listing: DocumentFilter) -> bool:
    """Whether a document has all that a list asks for."""
    asked = (
        (listing.collection_id, document.collection_id),
        (listing.domain, document.domain),
        (listing.source, document.source),
        (listing.language, document.language),
    )
    return (
        all(wanted is None or wanted == value for wanted, value in asked)
        and (listing.tag_id is None or listing.tag_id in document.tag_ids)
        and (listing.date_from is None or listing.date_from <= document.changed_at)
        and (listing.date_to is None or document.changed_at <= listing.date_to)
    )


def merged(annotations: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """RFC 7396, on the first level; raises ValidationFailed for too much."""
    joined = {**annotations, **change}
    return checked({name: value for name, value in joined.items() if value is not None})


def checked(annotations: Mapping[str, Any]) -> dict[str, Any]:
    """Raises ValidationFailed for more than DOCUMENT_METADATA_BYTES."""
    if len(json.dumps(annotations, ensure_ascii=False).encode()) > bounds.DOCUMENT_METADATA_BYTES:
        raise ValidationFailed(
            f"metadata has at most {bounds.DOCUMENT_METADATA_BYTES} bytes",
            details={"fields": [{"field": "metadata"}]},
        )
    return dict(annotations)

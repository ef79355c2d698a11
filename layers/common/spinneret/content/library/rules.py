"""Identity and comparison of a tenant's documents; pure."""

import hashlib
from typing import Final

from spinneret.content.documents.models import Document, DocumentFilter
from spinneret.kernel.errors import UrlInvalid
from spinneret.web.fetching.urls import cache_url, canonical_url, parse_url

UPLOAD_SCHEME: Final = "upload://"
UPLOAD_HOST: Final = "upload"
"""Host of uploads without a URL."""


def uploaded_url(title: str | None, body: bytes) -> str:
    """Return the URL of an upload without one; equal content gives the same document."""
    digest = hashlib.sha256((title or "").encode() + b"\n" + body).hexdigest()
    return f"{UPLOAD_SCHEME}{digest[:32]}"


def known_url(text: str) -> str:
    """Return the stored form of a document's URL; raise UrlInvalid."""
    if text.startswith(UPLOAD_SCHEME):
        name = text.removeprefix(UPLOAD_SCHEME)
        if not name or any(character.isspace() for character in name):
            raise UrlInvalid("an upload URL needs a name without blanks")
        return text
    return canonical_url(parse_url(text)).text


def url_key(url: str) -> str:
    """Return the key that a document's id derives from (`documents.rules.document_id`)."""
    return url if url.startswith(UPLOAD_SCHEME) else cache_url(parse_url(url))


def host_of(url: str) -> str:
    """Return the host of a document's URL."""
    return UPLOAD_HOST if url.startswith(UPLOAD_SCHEME) else parse_url(url).host


def matches(document: Document, listing: DocumentFilter) -> bool:
    """Return whether a document matches all filters of a list."""
    asked = (
        (listing.collection_id, document.collection_id),
        (listing.domain, document.domain),
        (listing.source, document.source),
        (listing.language, document.language),
    )
    return (
        listing.deleted == (document.deleted_at is not None)  # its index may be older than its row
        and all(wanted is None or wanted == value for wanted, value in asked)
        and (listing.tag_id is None or listing.tag_id in document.tag_ids)
        and (listing.date_from is None or listing.date_from <= document.changed_at)
        and (listing.date_to is None or document.changed_at <= listing.date_to)
    )

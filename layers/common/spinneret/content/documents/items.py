"""Conversion between documents and DynamoDB items."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from spinneret.aws.codec import Codec, Column, tenant_of, to_attribute, to_json
from spinneret.aws.dynamo import Item
from spinneret.content.chunking.models import USUAL_CHUNKING, Chunking
from spinneret.content.documents import keys
from spinneret.content.documents.models import Document, UrlLease
from spinneret.kernel.clock import parse_stamp


def _json(value: Any) -> str:
    return json.dumps(to_json(value), ensure_ascii=False)


def _metadata(stored: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(stored)
    if "published_at" in values:  # name in items written before 2026-11-22
        values["publish_date"] = values.pop("published_at")
    return values


def _unusual(chunking: Chunking) -> Item | None:
    """Return the stored chunking options, or None for the default, which isn't stored."""
    return None if chunking == USUAL_CHUNKING else to_attribute(chunking)


def _index_keys(document: Document) -> Item:
    deleted = document.deleted_at is not None
    item = {
        "list_id": keys.position(document),
        "list_key": keys.listed(document.tenant, deleted=deleted),
    }
    if not deleted:
        item["host_key"] = keys.hosted(document.tenant, document.domain)
        if document.collection_id is not None:
            item["collection_key"] = keys.collected(document.tenant, document.collection_id)
    return item


_JSON: Final = Column(encode=_json, decode=json.loads)

DOCUMENTS: Final = Codec(
    Document,
    key=lambda document: keys.document_key(document.tenant, document.id),
    columns={
        "metadata": Column(encode=_json, decode=_metadata),
        "extraction": _JSON,
        "chunking": Column(encode=_unusual),
        "annotations": _JSON,
        "origin": _JSON,
    },
    derived=_index_keys,
)


def document_of(item: Item) -> Document | None:
    """Return the document of a row; None if the row only has the lease of its URL, or is {}."""
    return DOCUMENTS.decode(item) if "sequence" in item else None


def documents_of(items: Iterable[Item]) -> Iterator[Document]:
    """Yield the documents of rows."""
    return (found for item in items if (found := document_of(item)) is not None)


def bare_lease_of(item: Item) -> UrlLease | None:
    """Return the lease of a row that has no document, or None."""
    if "sequence" in item or "leased_by" not in item:
        return None
    return UrlLease(
        tenant=tenant_of(item),
        document_id=keys.document_id_of(item["pk"]),
        holder=item["leased_by"],
        until=parse_stamp(item["leased_until"]),
    )

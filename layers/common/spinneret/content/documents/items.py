"""Conversion between documents and DynamoDB items."""

from __future__ import annotations

import json
from typing import Any, Final

from spinneret.aws.codec import Codec, Column, to_attribute, to_json
from spinneret.aws.dynamo import Item
from spinneret.content.chunking.models import USUAL_CHUNKING, Chunking
from spinneret.content.documents import keys
from spinneret.content.documents.models import Document


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

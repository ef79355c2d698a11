"""Conversion between documents and DynamoDB items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from spinneret.content.chunking.models import USUAL_CHUNKING, Chunking, ChunkingStrategy
from spinneret.content.documents import keys
from spinneret.content.documents.models import Document, DocumentSource, Origin
from spinneret.content.extraction.models import Extraction, Metadata, PageType
from spinneret.kernel.clock import optional_stamp, parse_optional_stamp, parse_stamp, to_iso


def item_of(document: Document) -> dict[str, Any]:
    """Return a document's item, without attributes that are None."""
    deleted = document.deleted_at is not None
    collection = document.collection_id
    item = {
        **keys.document_key(document.tenant, document.id),
        **asdict(document),
        "metadata": json.dumps(asdict(document.metadata), ensure_ascii=False),
        "extraction": None
        if document.extraction is None
        else json.dumps(asdict(document.extraction)),
        "origin": None
        if document.origin is None
        else json.dumps(asdict(document.origin), ensure_ascii=False),
        "chunking": None if document.chunking == USUAL_CHUNKING else asdict(document.chunking),
        "annotations": json.dumps(document.annotations, ensure_ascii=False),
        "tag_ids": list(document.tag_ids),
        "created_at": to_iso(document.created_at),
        "crawled_at": to_iso(document.crawled_at),
        "changed_at": to_iso(document.changed_at),
        "updated_at": to_iso(document.updated_at),
        "deleted_at": optional_stamp(document.deleted_at),
        "list_id": keys.position(document),
        "list_key": keys.listed(document.tenant, deleted=deleted),
        "host_key": None if deleted else keys.hosted(document.tenant, document.domain),
        "collection_key": None
        if deleted or collection is None
        else keys.collected(document.tenant, collection),
    }
    return {name: value for name, value in item.items() if value is not None}


def from_item(item: Mapping[str, Any]) -> Document:
    """Return the document of an item."""
    return Document(
        tenant=item["tenant"],
        id=item["id"],
        url=item["url"],
        domain=item["domain"],
        title=item.get("title"),
        language=item["language"],
        metadata=_metadata(json.loads(item["metadata"])),
        content_hash=item["content_hash"],
        content_key=item["content_key"],
        sequence=int(item["sequence"]),
        version=item["version"],
        chunk_count=int(item["chunk_count"]),
        token_count=int(item["token_count"]),
        embedding_model=item["embedding_model"],
        job_id=item["job_id"],
        created_at=parse_stamp(item["created_at"]),
        crawled_at=parse_stamp(item["crawled_at"]),
        changed_at=parse_stamp(item["changed_at"]),
        updated_at=parse_stamp(item["updated_at"]),
        extraction=_extraction(item.get("extraction")),
        chunking=_chunking(item.get("chunking")),
        source=DocumentSource(item["source"]),
        parent_url=item.get("parent_url"),
        collection_id=item.get("collection_id"),
        tag_ids=tuple(item["tag_ids"]),
        annotations=json.loads(item["annotations"]),
        origin=origin_from(item.get("origin")),
        deleted_at=parse_optional_stamp(item.get("deleted_at")),
    )


def _metadata(stored: Mapping[str, Any]) -> Metadata:
    values = {**stored, "keywords": tuple(stored["keywords"])}
    if "published_at" in values:  # name in items written before 2026-11-22
        values["publish_date"] = values.pop("published_at")
    return Metadata(**values)


def _chunking(stored: Mapping[str, Any] | None) -> Chunking:
    """Return the stored chunking options; they are only stored if not the default."""
    if stored is None:
        return USUAL_CHUNKING
    sizes = {name: int(stored[name]) for name in ("size", "overlap", "minimum")}
    return Chunking(strategy=ChunkingStrategy(stored["strategy"]), **sizes)


def origin_from(stored: str | None) -> Origin | None:
    return None if stored is None else Origin(**json.loads(stored))


def _extraction(stored: str | None) -> Extraction | None:
    """Decode an extraction, which is stored as JSON because its agreement is a float."""
    if stored is None:
        return None
    values = json.loads(stored)
    page_type = values["page_type"]
    return Extraction(**{**values, "page_type": page_type and PageType(page_type)})

"""The document store on DynamoDB.

Documents table
    pk `T#<tenant>#DOC#<id>`   the document; the id follows from tenant and URL, so that a URL is
                               looked up by key. `version` names the chunks that may be shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from spinneret.aws import dynamo
from spinneret.content.chunking.models import USUAL_CHUNKING, Chunking, ChunkingStrategy
from spinneret.content.documents.models import Document
from spinneret.content.documents.ports import VersionRaced
from spinneret.content.extraction.models import Extraction, Metadata, PageType
from spinneret.jobs.dynamo import lease_check
from spinneret.jobs.models import Lease
from spinneret.kernel.clock import parse_stamp, stamp
from spinneret.kernel.errors import LeaseLost

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

_LEASE = 0  # its position in the commit transaction


def document_key(tenant: str, document_id: str) -> dict[str, str]:
    """Primary key of a document."""
    return {"pk": f"T#{tenant}#DOC#{document_id}"}


class DynamoDocumentStore:
    """Implements DocumentStore."""

    def __init__(self, client: DynamoDBClient, documents_table: str, jobs_table: str) -> None:
        self._client = client
        self._documents = documents_table
        self._jobs = jobs_table

    def get(self, tenant: str, document_id: str) -> Document | None:
        """See DocumentStore."""
        item = dynamo.get(self._client, self._documents, document_key(tenant, document_id))
        return _from_item(item) if item else None

    def current_versions(self, tenant: str, document_ids: list[str]) -> dict[str, str]:
        """See DocumentStore: one BatchGetItem."""
        found = dynamo.batch_get(
            self._client,
            self._documents,
            [document_key(tenant, each) for each in document_ids],
            ("id", "version"),
        )
        return {item["id"]: item["version"] for item in found}

    def commit(self, document: Document, replaces: Document | None, lease: Lease) -> None:
        """See DocumentStore: the row and the lease's fence in one transaction."""
        condition = (
            ("attribute_not_exists(#pk)", {})
            if replaces is None
            else dynamo.equals(sequence=replaces.sequence)
        )
        writes = [
            lease_check(self._jobs, lease),
            dynamo.put(self._documents, _item(document), condition),
        ]
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            if _LEASE in failed.standing:
                raise LeaseLost(f"job {lease.job_id} has moved on") from failed
            raise VersionRaced from failed


def _item(document: Document) -> dict[str, Any]:
    item = {
        **document_key(document.tenant, document.id),
        **asdict(document),
        "metadata": json.dumps(asdict(document.metadata), ensure_ascii=False),
        "extraction": None
        if document.extraction is None
        else json.dumps(asdict(document.extraction)),
        "chunking": None if document.chunking == USUAL_CHUNKING else asdict(document.chunking),
        "tag_ids": list(document.tag_ids) or None,
        "created_at": stamp(document.created_at),
        "crawled_at": stamp(document.crawled_at),
        "changed_at": stamp(document.changed_at),
    }
    return {name: value for name, value in item.items() if value is not None}


def _from_item(item: Mapping[str, Any]) -> Document:
    metadata = json.loads(item["metadata"])
    return Document(
        tenant=item["tenant"],
        id=item["id"],
        url=item["url"],
        domain=item["domain"],
        title=item.get("title"),
        language=item["language"],
        metadata=Metadata(**{**metadata, "keywords": tuple(metadata["keywords"])}),
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
        extraction=_extraction(item.get("extraction")),
        chunking=_chunking(item.get("chunking")),
        collection_id=item.get("collection_id"),
        tag_ids=tuple(item.get("tag_ids", ())),
    )


def _chunking(stored: Mapping[str, Any] | None) -> Chunking:
    """Kept where it isn't the usual one."""
    if stored is None:
        return USUAL_CHUNKING
    sizes = {name: int(stored[name]) for name in ("size", "overlap", "minimum")}
    return Chunking(strategy=ChunkingStrategy(stored["strategy"]), **sizes)


def _extraction(stored: str | None) -> Extraction | None:
    """As JSON, since its agreement is a float."""
    if stored is None:
        return None
    values = json.loads(stored)
    page_type = values["page_type"]
    return Extraction(**{**values, "page_type": page_type and PageType(page_type)})

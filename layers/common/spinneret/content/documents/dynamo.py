"""Document store on DynamoDB.

Documents table
    pk `T#<tenant>#DOC#<id>`              the document; tenant and URL determine the id, so a URL is
                                          looked up by key. Searches return only the chunks of
                                          `version`
    pk `T#<tenant>#DOC#<id>#TAG#<tag>`    lists the document under a tag
    pk `T#<tenant>#GENERATION#<shard>`    counts the tenant's writes; cached searches belong to a
                                          generation
    pk `T#<tenant>#COUNT#<collection>#<shard>`  counts the undeleted documents of a collection;
                                          `closed` once the collection is removed
    pk `T#<tenant>#BODY#<hash>`           counts the documents with a body; at 0 it is removable
    index `listed`: `list_key`, `list_id`         a tenant's documents, deleted documents and the
                                                  documents under a tag, by creation
    index `collected`: `collection_key`, `list_id`  documents of a collection
    index `hosted`: `host_key`, `list_id`           documents of a host

Every change of a document is one transaction with the generation, the counts and the tag items.
Counting items are sharded by document id, so that concurrent writes of a crawl rarely conflict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from spinneret.aws import dynamo
from spinneret.aws.reads import items
from spinneret.aws.table import Table
from spinneret.content.collections.keys import count_keys
from spinneret.content.documents import keys
from spinneret.content.documents.items import DOCUMENTS
from spinneret.content.documents.models import Document, DocumentFilter, VersionVisibility
from spinneret.content.documents.ports import CollectionGone, VersionRaced
from spinneret.jobs.dynamo import lease_check
from spinneret.jobs.models import Lease
from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import LeaseLost
from spinneret.kernel.paging import Page

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_ROW: Final = "row"
_LEASE: Final = "lease"
_OPEN: Final[dynamo.Condition] = ("attribute_not_exists(#closed)", {})
_INDEX_KEYS: Final = {"listed": "list_key", "collected": "collection_key", "hosted": "host_key"}

Write = tuple[str, "TransactWriteItemTypeDef"]
"""Purpose of a write (`row`, `lease`, `generation` …) and the write."""


class DynamoDocumentStore:
    """Implements DocumentStore."""

    def __init__(self, client: DynamoDBClient, documents_table: str, jobs_table: str) -> None:
        self._client = client
        self._documents = documents_table
        self._rows = Table(client, documents_table, DOCUMENTS)
        self._jobs = jobs_table

    def get(self, tenant: str, document_id: str) -> Document | None:
        """See DocumentStore."""
        return self._rows.get(keys.document_key(tenant, document_id))

    def shown(self, tenant: str, document_ids: Sequence[str]) -> dict[str, VersionVisibility]:
        """See DocumentStore; sends one BatchGetItem."""
        found = dynamo.batch_get(
            self._client,
            self._documents,
            [keys.document_key(tenant, each) for each in document_ids],
            ("id", "version", "collection_id", "tag_ids", "deleted_at"),
        )
        return {
            item["id"]: VersionVisibility(
                version=item["version"],
                collection_id=item.get("collection_id"),
                tag_ids=tuple(item["tag_ids"]),
            )
            for item in found
            if "deleted_at" not in item
        }

    def generation(self, tenant: str) -> str:
        """See DocumentStore; sends one BatchGetItem."""
        found = dynamo.batch_get(self._client, self._documents, keys.generation_keys(tenant))
        numbers = {item["pk"]: int(item["number"]) for item in found}
        return "-".join(str(numbers.get(key["pk"], 0)) for key in keys.generation_keys(tenant))

    def page(self, listing: DocumentFilter, after: str | None, limit: int) -> Page[Document]:
        """See DocumentStore; sends one query of the narrowest index and one BatchGetItem."""
        index, partition = _index_of(listing)
        key = _INDEX_KEYS[index]
        condition, values = f"{key} = :key", {":key": partition}
        if after is not None:
            condition += " AND list_id < :after"
            values[":after"] = after
        request = {
            "TableName": self._documents,
            "IndexName": index,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
            "ScanIndexForward": False,
        }
        rows = items(self._client.query, request, limit + 1)
        listed = Page.cut(list(rows), limit, lambda row: str(row["list_id"]))
        wanted = [keys.document_id_of(row["pk"]) for row in listed.items]
        stored = self._rows.batch_get([keys.document_key(listing.tenant, each) for each in wanted])
        found = {document.id: document for document in stored}
        documents = tuple(found[each] for each in wanted if each in found)
        return Page(items=documents, after=listed.after)

    def commit(
        self, document: Document, replaces: Document | None, lease: Lease | None = None
    ) -> None:
        """See DocumentStore; sends one transaction."""
        condition = (
            ("attribute_not_exists(#pk)", {})
            if replaces is None
            else dynamo.equals(sequence=replaces.sequence)
        )
        writes: list[Write] = [
            (_ROW, self._rows.put_write(document, condition)),
            *self._beside(document, replaces),
        ]
        if lease is not None:
            writes.append((_LEASE, lease_check(self._jobs, lease)))
        self._write(writes)

    def remove(self, document: Document) -> bool:
        """See DocumentStore."""
        key = keys.document_key(document.tenant, document.id)
        unchanged = dynamo.equals(sequence=document.sequence)
        writes: list[Write] = [
            (_ROW, dynamo.delete(self._documents, key, unchanged)),
            *self._beside(None, document),
        ]
        try:
            self._write(writes)
        except VersionRaced:
            return False
        return True

    def _write(self, writes: Sequence[Write]) -> None:
        try:
            dynamo.transact(self._client, [write for _, write in writes])
        except dynamo.ConditionFailed as failed:
            parts = {writes[position][0] for position in failed.standing}
            if _LEASE in parts:
                raise LeaseLost("the job is no longer held by this claim") from failed
            if _ROW in parts:
                raise VersionRaced from failed
            raise CollectionGone from failed

    def _beside(self, document: Document | None, former: Document | None) -> list[Write]:
        """Build the writes that accompany a document's write; `document` or `former` may be
        None."""
        either = document or former
        assert either is not None  # callers pass at least one of them
        writes = [("generation", self._count(keys.generation_key(either), 1))]
        was, now = _collection(former), _collection(document)
        if was != now:
            shard = keys.shard(either.id)
            for each, step in ((was, -1), (now, 1)):
                if each is not None:
                    key = count_keys(either.tenant, each)[shard]
                    writes.append(("collection", self._count(key, step)))
        body_was, body_now = (each and each.content_key for each in (former, document))
        if body_was != body_now:
            for of, step in ((former, -1), (document, 1)):
                if of is not None:
                    writes.append(("body", self._count_body(of, step)))
        had, has = _tags(former), _tags(document)
        for tag in sorted(had - has):
            key = keys.tagged_key(either.tenant, either.id, tag)
            writes.append(("tag", {"Delete": {"TableName": self._documents, "Key": key}}))
        for tag in sorted(has - had):
            item = {
                **keys.tagged_key(either.tenant, either.id, tag),
                "list_key": keys.tagged(either.tenant, tag),
                "list_id": keys.position(either),
            }
            writes.append(("tag", dynamo.put(self._documents, item)))
        return writes

    def _count(self, key: dict[str, str], step: int) -> TransactWriteItemTypeDef:
        return dynamo.change(self._documents, key, ("ADD #number :step", {":step": step}), _OPEN)

    def _count_body(self, of: Document, step: int) -> TransactWriteItemTypeDef:
        counted = {
            ":step": step,
            ":key": of.content_key,
            ":tenant": of.tenant,
            ":now": to_iso(of.updated_at),
        }
        expression = "ADD #number :step SET #key = :key, #tenant = :tenant, #counted_at = :now"
        return dynamo.change(self._documents, keys.body_key(of), (expression, counted), _OPEN)


def _collection(document: Document | None) -> str | None:
    """Return the collection that counts the document, if any."""
    if document is None or document.deleted_at is not None:
        return None
    return document.collection_id


def _tags(document: Document | None) -> set[str]:
    """Return the tags that list the document."""
    if document is None or document.deleted_at is not None:
        return set()
    return set(document.tag_ids)


def _index_of(listing: DocumentFilter) -> tuple[str, str]:
    """Return the index to query for a listing, and its partition."""
    tenant = listing.tenant
    if listing.deleted:
        return "listed", keys.listed(tenant, deleted=True)
    if listing.collection_id is not None:
        return "collected", keys.collected(tenant, listing.collection_id)
    if listing.tag_id is not None:
        return "listed", keys.tagged(tenant, listing.tag_id)
    if listing.domain is not None:
        return "hosted", keys.hosted(tenant, listing.domain)
    return "listed", keys.listed(tenant)

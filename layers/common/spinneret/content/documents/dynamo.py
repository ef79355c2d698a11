"""Document store on DynamoDB.

Documents table
    pk `T#<tenant>#DOC#<id>`              the document; tenant and URL determine the id, so a URL is
                                          looked up by key. Searches return only the chunks of
                                          `version`. `leased_by` and `leased_until`: the worker that
                                          fetches the URL; a row may have nothing else, and is then
                                          no document
    pk `T#<tenant>#DOC#<id>#TAG#<tag>`    lists the document under a tag
    pk `T#<tenant>#GENERATION#<shard>`    counts the tenant's writes; cached searches belong to a
                                          generation
    pk `T#<tenant>#COUNT#<collection>#<shard>`  counts the undeleted documents of a collection;
                                          `closed` once the collection is removed
    pk `T#<tenant>#BODY#<hash>`           counts the documents with a body; at 0 it is removable
    pk `UPKEEP#index`                     counts the indexes that searches have used; cached
                                          searches belong to one
    index `listed`: `list_key`, `list_id`         a tenant's documents, deleted documents and the
                                                  documents under a tag, by creation
    index `collected`: `collection_key`, `list_id`  documents of a collection
    index `hosted`: `host_key`, `list_id`           documents of a host

Every change of a document is one transaction with the generation, the counts and the tag items. It
updates the row, so that another worker's lease remains.
Counting items are sharded by document id, so that concurrent writes of a crawl rarely conflict.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.reads import query
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.content.collections.keys import count_keys
from spinneret.content.documents import keys
from spinneret.content.documents.items import DOCUMENTS, document_of, documents_of
from spinneret.content.documents.models import (
    Document,
    DocumentFilter,
    UrlBusy,
    UrlLease,
    UrlTaken,
    VersionVisibility,
)
from spinneret.content.documents.ports import CollectionGone, UrlLeaseLost, VersionRaced
from spinneret.jobs.dynamo import lease_check
from spinneret.jobs.models import Lease
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.kernel.errors import LeaseLost
from spinneret.kernel.paging import Page

_ROW: Final = "row"
_LEASE: Final = "lease"
_FREE: Final = "attribute_not_exists(#leased_until) OR #leased_until <= :now"
_NOT_LEASED: Final = {"leased_by": None, "leased_until": None}
_OPEN: Final[dynamo.Condition] = ("attribute_not_exists(#closed)", {})
_INDEX_KEYS: Final = {"listed": "list_key", "collected": "collection_key", "hosted": "host_key"}

Write = tuple[str, "TransactWriteItemTypeDef"]
"""Purpose of a write (`row`, `lease`, `generation` …) and the write."""


class DynamoDocumentStore:
    """Implements DocumentStore."""

    def __init__(self, client: DynamoDBClient, documents_table: str, jobs_table: str) -> None:
        self._client = client
        self._documents = documents_table
        self._jobs = jobs_table

    def get(self, tenant: str, document_id: str) -> Document | None:
        key = keys.document_key(tenant, document_id)
        return document_of(dynamo.get(self._client, self._documents, key))

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
            if "version" in item and "deleted_at" not in item
        }

    def generation(self, tenant: str) -> str:
        """See DocumentStore; sends one BatchGetItem."""
        wanted = [*keys.generation_keys(tenant), keys.INDEX_KEY]
        found = dynamo.batch_get(self._client, self._documents, wanted)
        numbers = {item["pk"]: int(item["number"]) for item in found}
        return "-".join(str(numbers.get(key["pk"], 0)) for key in wanted)

    def many(self, keys_of: Sequence[tuple[str, str]]) -> list[Document]:
        """See DocumentStore; sends one BatchGetItem per 100 documents."""
        wanted = [keys.document_key(*each) for each in keys_of]
        return list(documents_of(dynamo.batch_get(self._client, self._documents, wanted)))

    def page(self, listing: DocumentFilter, after: str | None, limit: int) -> Page[Document]:
        """See DocumentStore; sends one query of the narrowest index and one BatchGetItem."""
        index, partition = _index_of(listing)
        key = _INDEX_KEYS[index]
        condition, values = f"{key} = :key", {":key": partition}
        if after is not None:
            condition += " AND list_id < :after"
            values[":after"] = after
        asked = {"IndexName": index, "ScanIndexForward": False}
        rows = query(self._client, self._documents, condition, values, limit + 1, **asked)
        listed = Page.cut(list(rows), limit, lambda row: str(row["list_id"]))
        wanted = [keys.document_id_of(row["pk"]) for row in listed.items]
        stored = self.many([(listing.tenant, each) for each in wanted])
        found = {document.id: document for document in stored}
        documents = tuple(found[each] for each in wanted if each in found)
        return Page(items=documents, after=listed.after)

    def take_url(self, lease: UrlLease, now: datetime) -> UrlTaken | UrlBusy:
        """See DocumentStore; sends one UpdateItem, whose response is the document.

        The holder itself isn't refused, since a retry may find the lease of its first call.
        """
        taken = "SET #leased_by = :holder, #leased_until = :until"
        condition = f"{_FREE} OR #leased_by = :holder"
        row = keys.document_key(lease.tenant, lease.document_id)
        values = {":holder": lease.holder, ":until": to_iso(lease.until), ":now": to_iso(now)}
        answer = dynamo.update_or_standing(
            self._client, self._documents, row, taken, values, condition
        )
        if isinstance(answer, dynamo.Standing):
            return UrlBusy(until=parse_stamp(answer.item["leased_until"]))
        return UrlTaken(lease=lease, document=document_of(answer))

    def release_url(self, taken: UrlTaken) -> None:
        """See DocumentStore; sends one call, or two if a document was committed meanwhile."""
        of = taken.lease
        request = {
            "TableName": self._documents,
            "Key": keys.document_key(of.tenant, of.document_id),
            "ExpressionAttributeValues": {":holder": of.holder},
        }
        if taken.document is None:
            condition = "#leased_by = :holder AND attribute_not_exists(#sequence)"
            deleted = dynamo.write_or_standing(
                self._client.delete_item,
                **request,
                ConditionExpression=condition,
                ExpressionAttributeNames=dynamo.names_in(condition),
            )
            if not isinstance(deleted, dynamo.Standing):
                return
            if deleted.item.get("leased_by") != of.holder:
                return
        dynamo.write_if(
            self._client.update_item,
            **request,
            UpdateExpression="REMOVE #leased_by, #leased_until",
            ConditionExpression="#leased_by = :holder",
            ExpressionAttributeNames=dynamo.names_in("#leased_by #leased_until"),
        )

    def commit(
        self,
        document: Document,
        replaces: Document | None,
        lease: Lease | None = None,
        url: UrlLease | None = None,
    ) -> None:
        """See DocumentStore; sends one transaction."""
        former = {} if replaces is None else DOCUMENTS.encode(replaces)
        changes = {**dict.fromkeys(former), **DOCUMENTS.encode(document)}
        key = {"pk": changes.pop("pk")}
        unchanged: dict[str, Any] = {"sequence": None if replaces is None else replaces.sequence}
        if url is not None:
            changes |= _NOT_LEASED
            unchanged["leased_by"] = url.holder
        condition = dynamo.equals(**unchanged)
        writes: list[Write] = [
            (_ROW, dynamo.update(self._documents, key, changes, condition)),
            *self._beside(document, replaces),
        ]
        if lease is not None:
            writes.append((_LEASE, lease_check(self._jobs, lease)))
        self._write(writes, url)

    def remove(self, document: Document, now: datetime) -> bool:
        key = keys.document_key(document.tenant, document.id)
        same, values = dynamo.equals(sequence=document.sequence)
        condition = (f"{same} AND ({_FREE})", {**values, ":now": to_iso(now)})
        writes: list[Write] = [
            (_ROW, dynamo.delete(self._documents, key, condition)),
            *self._beside(None, document),
        ]
        try:
            self._write(writes)
        except VersionRaced:
            return False
        return True

    def _write(self, writes: Sequence[Write], url: UrlLease | None = None) -> None:
        try:
            dynamo.transact(self._client, [write for _, write in writes])
        except dynamo.ConditionFailed as failed:
            parts = {writes[position][0]: item for position, item in failed.standing.items()}
            if _LEASE in parts:
                raise LeaseLost("the job is no longer held by this claim") from failed
            if _ROW in parts:
                if url is not None and parts[_ROW].get("leased_by") != url.holder:
                    raise UrlLeaseLost from failed
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


class DynamoIndexRecord:
    """Implements IndexRecord."""

    def __init__(self, client: DynamoDBClient, documents_table: str) -> None:
        self._client = client
        self._documents = documents_table

    def exists(self) -> bool:
        return bool(dynamo.get(self._client, self._documents, keys.INDEX_KEY))

    def changed(self) -> None:
        add = "ADD #number :one"
        dynamo.update_item(self._client, self._documents, keys.INDEX_KEY, add, {":one": 1})


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

"""Collections on DynamoDB: items of the kind `collection` in the table Labels (aws.named_rows).

Documents table: pk `T#<tenant>#COUNT#<collection>#<shard>`. `number` counts the collection's
documents and is written with them (`documents.dynamo`); `closed` rejects further documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spinneret.aws import dynamo
from spinneret.aws.named_rows import NamedItem, NamedItemTable
from spinneret.content.collections.keys import count_keys
from spinneret.content.collections.models import Collection
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.kernel.paging import Page

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class DynamoCollectionStore:
    """Implements CollectionStore."""

    def __init__(self, client: DynamoDBClient, table: str, documents_table: str) -> None:
        self._client = client
        self._documents = documents_table
        self._rows = NamedItemTable(client, table, "collection")

    def add(self, collection: Collection) -> None:
        """See CollectionStore."""
        self._rows.add(_row(collection))

    def get(self, tenant: str, collection_id: str) -> Collection | None:
        """See CollectionStore."""
        row = self._rows.get(tenant, collection_id)
        return None if row is None else _collection(row)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Collection]:
        """See CollectionStore."""
        rows, last = self._rows.page(tenant, after, limit)
        return Page(items=tuple(map(_collection, rows)), after=last)

    def replace(self, former: Collection, collection: Collection) -> bool:
        """See CollectionStore."""
        return self._rows.replace(_row(former), _row(collection))

    def remove(self, collection: Collection) -> bool:
        """See CollectionStore; sends one transaction with all counts, which must be zero."""
        empty = "attribute_not_exists(#number) OR #number = :none"
        closing = [
            dynamo.change(
                self._documents,
                key,
                ("SET #closed = :closed", {":closed": True}),
                (empty, {":none": 0}),
            )
            for key in count_keys(collection.tenant, collection.id)
        ]
        return self._rows.remove(_row(collection), closing)

    def counts(self, tenant: str, collection_ids: Sequence[str]) -> dict[str, int]:
        """See CollectionStore."""
        of_row = {
            key["pk"]: each
            for each in dict.fromkeys(collection_ids)
            for key in count_keys(tenant, each)
        }
        found = dict.fromkeys(collection_ids, 0)
        keys = [{"pk": pk} for pk in of_row]
        for item in dynamo.batch_get(self._client, self._documents, keys):
            found[of_row[item["pk"]]] += int(item.get("number", 0))
        return found


def _row(collection: Collection) -> NamedItem:
    return NamedItem(
        tenant=collection.tenant,
        id=collection.id,
        name=collection.name,
        version=collection.version,
        attributes={
            "description": collection.description,
            "created_at": to_iso(collection.created_at),
            "updated_at": to_iso(collection.updated_at),
        },
    )


def _collection(row: NamedItem) -> Collection:
    return Collection(
        tenant=row.tenant,
        id=row.id,
        name=row.name,
        description=row.attributes["description"],
        created_at=parse_stamp(row.attributes["created_at"]),
        updated_at=parse_stamp(row.attributes["updated_at"]),
        version=row.version,
    )

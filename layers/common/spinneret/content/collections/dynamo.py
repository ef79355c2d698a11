"""Collections on DynamoDB: items of the kind `collection` (aws.named_rows), in TagsAndCollections.

Documents table: pk `T#<tenant>#COUNT#<collection>#<shard>`. `number` counts the collection's
documents and is written with them (`documents.dynamo`); `closed` rejects further documents.
"""

from collections.abc import Sequence
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.codec import NULL, Codec
from spinneret.aws.named_rows import KEYED, NamedRows, from_key
from spinneret.aws.types import DynamoDBClient
from spinneret.content.collections.keys import count_keys
from spinneret.content.collections.models import Collection
from spinneret.kernel.paging import Page


class DynamoCollectionStore:
    """Implements CollectionStore."""

    def __init__(self, client: DynamoDBClient, table: str, documents_table: str) -> None:
        self._client = client
        self._documents = documents_table
        self._rows = NamedRows(client, table, "collection", COLLECTIONS)

    def add(self, collection: Collection) -> None:
        self._rows.add(collection)

    def get(self, tenant: str, collection_id: str) -> Collection | None:
        return self._rows.get(tenant, collection_id)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Collection]:
        return self._rows.page(tenant, after, limit)

    def replace(self, former: Collection, collection: Collection) -> bool:
        return self._rows.replace(former, collection)

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
        return self._rows.remove(collection, closing)

    def counts(self, tenant: str, collection_ids: Sequence[str]) -> dict[str, int]:
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


COLLECTIONS: Final = Codec(
    Collection, keyed=KEYED, from_key=from_key, columns={"description": NULL}
)

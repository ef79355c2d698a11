"""Rows of one dataclass in a DynamoDB table.

Adapters keep their keys, conditions and transactions visible; this module makes the calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spinneret.aws import dynamo
from spinneret.aws.codec import Codec
from spinneret.aws.dynamo import Item
from spinneret.aws.reads import page_of, query
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.kernel.paging import Page

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class DynamoAdapter:
    """Base of the adapters on DynamoDB: a client, and the table of their own rows."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table


class Table[T: DataclassInstance]:
    """The rows of one dataclass. All methods raise DependencyUnavailable; reads are consistent."""

    def __init__(self, client: DynamoDBClient, name: str, codec: Codec[T]) -> None:
        self._client = client
        self._name = name
        self._codec = codec

    def get(self, key: Item) -> T | None:
        """Return the row, or None if it is missing."""
        found = dynamo.get(self._client, self._name, key)
        return self._codec.decode(found) if found else None

    def batch_get(self, keys: Sequence[Item]) -> list[T]:
        """Return the existing rows of these keys, unordered; keys may repeat."""
        distinct = list({tuple(key.items()): key for key in keys}.values())
        return [
            self._codec.decode(item)
            for item in dynamo.batch_get(self._client, self._name, distinct)
        ]

    def page(
        self, partition: str, after: str | None, limit: int, *, newest_first: bool = False
    ) -> Page[T]:
        """Return up to `limit` rows of a partition after the sort key `after`."""
        return page_of(
            self._client, self._name, partition, after, limit, newest_first=newest_first
        ).map(self._codec.decode)

    def query_all(
        self,
        condition: str,
        values: Mapping[str, Any],
        limit: int | None = None,
        **more: Any,
    ) -> list[T]:
        """Return the rows that a key condition selects, at most `limit`.

        `more` are further arguments of Query, such as `FilterExpression`.
        """
        asked = {"ConsistentRead": True, **more}
        found = query(self._client, self._name, condition, values, limit, **asked)
        return [self._codec.decode(item) for item in found]

    def put(self, value: T) -> None:
        """Write the row over any existing one."""
        dynamo.put_item(self._client, self._name, self._codec.encode(value))

    def replace(self, value: T, condition: dynamo.Condition) -> bool:
        """Write the row if the stored one meets the condition; return whether it is written.

        A retry may find the row of an earlier successful call: a row equal to ours counts as ours.
        """
        expression, values = condition
        item = self._codec.encode(value)
        request: dict[str, Any] = {
            "TableName": self._name,
            "Item": item,
            "ConditionExpression": expression,
            "ExpressionAttributeNames": dynamo.names_in(expression),
        }
        if values:
            request["ExpressionAttributeValues"] = values
        answer = dynamo.write_or_standing(self._client.put_item, **request)
        return not isinstance(answer, dynamo.Standing) or answer.item == item

    def delete(self, key: Item) -> T | None:
        """Delete the row; return it, or None if it was missing."""
        former = dynamo.delete_item(self._client, self._name, key)
        return self._codec.decode(former) if former else None

    def put_write(
        self, value: T, condition: dynamo.Condition | None = None
    ) -> TransactWriteItemTypeDef:
        """Return the Put of the row for a transaction."""
        return dynamo.put(self._name, self._codec.encode(value), condition)

"""Expiries on DynamoDB: rows of any table with these attributes (audits/dynamo.py has such rows).

    `storage_uri`, `retention_until`, `deleted_at`    the object, when it is over, when it went
    index `due`: pk `due_shard` `EXPIRY#0` … `EXPIRY#3`, sk `due_at`, while it isn't deleted

The index holds keys only and lags behind: what it names is read again before it is acted upon.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from spinneret.aws.clients import error_code, translated
from spinneret.kernel.clock import parse_stamp, stamp
from spinneret.retention.models import Expired

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

_SHARDS: Final = 4


class DynamoExpiryStore:
    """Implements ExpiryStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def expired(self, now: datetime, limit: int) -> list[Expired]:
        """See ExpiryStore: a query for each shard, then each row that is among the oldest."""
        named: list[dict[str, Any]] = []
        for shard in range(_SHARDS):
            with translated("dynamodb"):
                answer = self._client.query(
                    TableName=self._table,
                    IndexName="due",
                    KeyConditionExpression="due_shard = :shard AND due_at < :now",
                    ExpressionAttributeValues={":shard": f"EXPIRY#{shard}", ":now": stamp(now)},
                    Limit=limit,
                )
            named += answer["Items"]
        named.sort(key=lambda item: (item["due_at"], item["sk"]))
        rows = (self._read(item) for item in named[:limit])
        return [row for row in rows if row is not None and row.retention_until < now]

    def mark_deleted(self, expired: Expired, now: datetime) -> bool:
        """See ExpiryStore."""
        partition, sort = expired.row
        try:
            with translated("dynamodb"):
                self._client.update_item(
                    TableName=self._table,
                    Key={"pk": partition, "sk": sort},
                    UpdateExpression="SET deleted_at = :now REMOVE due_shard, due_at",
                    ConditionExpression="retention_until = :until"
                    " AND attribute_not_exists(deleted_at)",
                    ExpressionAttributeValues={
                        ":now": stamp(now),
                        ":until": stamp(expired.retention_until),
                    },
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except ClientError as error:
            if error_code(error) != "ConditionalCheckFailedException":
                raise
            return _is_marked(error.response.get("Item"), now)
        return True

    def _read(self, item: Mapping[str, Any]) -> Expired | None:
        key = {"pk": item["pk"], "sk": item["sk"]}
        with translated("dynamodb"):
            answer = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        row: dict[str, Any] | None = answer.get("Item")
        if row is None or "deleted_at" in row or "retention_until" not in row:
            return None
        return Expired(
            row=(item["pk"], item["sk"]),
            storage_uri=row["storage_uri"],
            retention_until=parse_stamp(row["retention_until"]),
        )


def _is_marked(item: Any, now: datetime) -> bool:
    """Our own mark, whose answer was lost."""
    return bool(item) and item.get("deleted_at", {}).get("S") == stamp(now)

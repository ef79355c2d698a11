"""The due index on DynamoDB: the sparse index `due` of the table Targets.

    due_shard `DUE#<shard>`, due_at `<time>`    targets that aren't paused, by the time of their
                                                next check; the shard follows from the target's id

This index is the only list across tenants: each shard holds due targets of all tenants.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from spinneret.aws.reads import items
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.monitoring.due.models import DueTarget
from spinneret.monitoring.targets.items import DUE_INDEX, due_shard

_PAGE: Final = 600  # about 100 KB


class DynamoDueIndex:
    """Implements DueIndex."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def due(self, shard: int, now: datetime, since: datetime | None = None) -> Iterator[DueTarget]:
        """See DueIndex; the index is eventually consistent."""
        values = {
            ":shard": due_shard(shard),
            ":since": "0" if since is None else to_iso(since),
            ":now": to_iso(now),
        }
        request = {
            "TableName": self._table,
            "IndexName": DUE_INDEX,
            "KeyConditionExpression": "due_shard = :shard AND due_at BETWEEN :since AND :now",
            "ExpressionAttributeValues": values,
            "Limit": _PAGE,
        }
        yield from map(_due, items(self._client.query, request))


def _due(item: Mapping[str, Any]) -> DueTarget:
    return DueTarget(
        tenant=item["tenant"],
        target_id=item["target_id"],
        host=item["host"],
        due_at=parse_stamp(item["due_at"]),
    )

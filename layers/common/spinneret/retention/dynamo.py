"""Expiries on DynamoDB: rows of any table with these attributes (such as audits/dynamo.py).

    `storage_uri`, `retention_until`, `deleted_at`    the object, its expiry, its deletion
    `refusals`                                        failed deletions, absent if none
    index `due`: pk `due_shard` `EXPIRY#0` … `EXPIRY#3`, sk `due_at`, until it is deleted:
        `retention_until`, or the next try of a refused deletion

The index is eventually consistent and holds keys only: its rows are read again before use.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.reads import due_items
from spinneret.aws.table import DynamoAdapter
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.retention.models import Expired

_SHARDS: Final = 4


class DynamoExpiryStore(DynamoAdapter):
    """Implements ExpiryStore."""

    def expired(self, now: datetime, limit: int) -> list[Expired]:
        """See ExpiryStore: a query for each shard, then each row that is among the oldest."""
        shards = [f"EXPIRY#{shard}" for shard in range(_SHARDS)]
        named = list(due_items(self._client, self._table, shards, now, limit))
        named.sort(key=lambda item: (item["due_at"], item["sk"]))
        rows = (self._read(item, now) for item in named[:limit])
        return [row for row in rows if row is not None]

    def mark_deleted(self, expired: Expired, now: datetime) -> bool:
        mark = to_iso(now)
        return self._update(
            expired,
            "SET deleted_at = :mark REMOVE due_shard, due_at",
            "retention_until = :until AND attribute_not_exists(deleted_at)",
            {":mark": mark, ":until": to_iso(expired.retention_until)},
            own={"deleted_at": mark},
        )

    def defer(self, expired: Expired, until: datetime) -> bool:
        """See ExpiryStore; of two passes that meet the same refusal, one counts it."""
        due_at, refusals = to_iso(until), expired.refusals + 1
        as_read = "refusals = :read" if expired.refusals else "attribute_not_exists(refusals)"
        values = {":due": due_at, ":refusals": refusals, ":until": to_iso(expired.retention_until)}
        if expired.refusals:
            values[":read"] = expired.refusals
        return self._update(
            expired,
            "SET due_at = :due, refusals = :refusals",
            f"retention_until = :until AND attribute_not_exists(deleted_at) AND {as_read}",
            values,
            own={"due_at": due_at, "refusals": refusals},
        )

    def _update(
        self,
        expired: Expired,
        update: str,
        condition: str,
        values: dict[str, Any],
        *,
        own: Mapping[str, Any],
    ) -> bool:
        """Update the row if it is unchanged; return True also if it already has `own`.

        A row has `own` if an earlier write succeeded but its response was lost.
        """
        partition, sort = expired.row
        row = {"pk": partition, "sk": sort}
        answer = dynamo.update_or_standing(
            self._client, self._table, row, update, values, condition
        )
        return not isinstance(answer, dynamo.Standing) or own.items() <= answer.item.items()

    def _read(self, item: Mapping[str, Any], now: datetime) -> Expired | None:
        key = {"pk": item["pk"], "sk": item["sk"]}
        row = dynamo.get(self._client, self._table, key)
        if row.get("due_at", to_iso(now)) >= to_iso(now):
            return None
        return Expired(
            row=(item["pk"], item["sk"]),
            storage_uri=row["storage_uri"],
            retention_until=parse_stamp(row["retention_until"]),
            refusals=int(row.get("refusals", 0)),
        )

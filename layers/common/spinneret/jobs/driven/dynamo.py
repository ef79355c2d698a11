"""Slots in a product's own table.

    pk `T#<tenant>#SLOTS`, sk the group: `holders` (job id → until), `version`

Each tenant and group has one item. Every write is conditional on the version that was read, so the
number of holders is exact under concurrency.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.table import DynamoAdapter
from spinneret.jobs.driven.ports import IsOver
from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import DependencyUnavailable

_TRIES: Final = 8  # holders of one tenant that may try at the same moment


class DynamoSemaphore(DynamoAdapter):
    """Implements Semaphore."""

    def take(
        self,
        tenant: str,
        group: str,
        holder: str,
        now: datetime,
        until: datetime,
        most: int,
        is_over: IsOver | None = None,
    ) -> bool:
        def taken(holders: dict[str, str]) -> dict[str, str] | None:
            others = {
                name: end for name, end in holders.items() if end > to_iso(now) and name != holder
            }
            if is_over is not None and len(others) >= most:
                others = {name: end for name, end in others.items() if not is_over(name)}
            return {**others, holder: to_iso(until)} if len(others) < most else None

        return self._change(tenant, group, taken)

    def leave(self, tenant: str, group: str, holder: str) -> None:
        """See Semaphore; sends one UpdateItem."""
        update, there = "REMOVE #holders.#holder ADD #version :one", "attribute_exists(#holders)"
        names = dynamo.names_in(f"{update} {there}")
        dynamo.write_if(
            self._client.update_item,
            TableName=self._table,
            Key=_key(tenant, group),
            UpdateExpression=update,
            ConditionExpression=there,
            ExpressionAttributeNames={**names, "#holder": holder},
            ExpressionAttributeValues={":one": 1},
        )

    def _change(
        self, tenant: str, group: str, change: Callable[[dict[str, str]], dict[str, str] | None]
    ) -> bool:
        """Apply `change` to the holders; return False if it returns None."""
        key = _key(tenant, group)
        for _ in range(_TRIES):
            found = dynamo.get(self._client, self._table, key)
            holders: dict[str, str] = dict(found.get("holders", {}))
            version = int(found.get("version", 0))
            wanted = change(holders)
            if wanted is None:
                return False
            if wanted == holders or self._put(key, wanted, version):
                return True
        raise DependencyUnavailable("dynamodb", "too many concurrent requests for one slot")

    def _put(self, key: dict[str, str], holders: dict[str, str], version: int) -> bool:
        """Write the holders; return False if the item changed meanwhile."""
        written = dynamo.write_if(
            self._client.put_item,
            TableName=self._table,
            Item={**key, "holders": holders, "version": version + 1},
            ConditionExpression="attribute_not_exists(pk) OR version = :read",
            ExpressionAttributeValues={":read": version},
        )
        return written is not None


def _key(tenant: str, group: str) -> dict[str, str]:
    return {"pk": f"T#{tenant}#SLOTS", "sk": group}

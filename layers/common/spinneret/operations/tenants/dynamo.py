"""Rows of a tenant in any table, and the state of its deletion, on DynamoDB.

Tenancy table
    pk `T#<tenant>#TENANT`, sk `DELETION`    the state of the deletion, as JSON text

DynamoDB can't query a part of a partition key, so a pass scans each table. Its filter selects keys
with the tenant's name; `tables.owner_of` then decides.
"""

import json
from dataclasses import asdict
from typing import Any, Final

from spinneret.access.tenants.dynamo import tenant_key
from spinneret.aws import dynamo
from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.dynamo import Item
from spinneret.aws.types import DynamoDBClient
from spinneret.jobs.keys import hold_key
from spinneret.kernel.clock import Remaining
from spinneret.operations.tenants.models import Deletion, Erased
from spinneret.operations.tenants.tables import TableRows, UnknownForm, owner_of

_ROWS: Final = 2000  # of one scan
_STATE: Final = "DELETION"


class TablePlace:
    """Implements Place for a table."""

    def __init__(self, client: DynamoDBClient, name: str, table: str, rows: TableRows) -> None:
        """`name` is for reports, `table` the real one."""
        self.name = name
        self._client = client
        self._table = table
        self._rows = rows

    def erase(self, tenant: str, after: Any, remaining: Remaining) -> Erased:  # noqa: ARG002 - one scan is bounded
        with translate_aws_errors("dynamodb"):
            answer = self._client.scan(**self._request(tenant, after))
        keys, unknown = list[Item](), list[str]()
        for row in answer["Items"]:
            key = {"pk": row["pk"], **({"sk": row["sk"]} if self._rows.has_sort_key else {})}
            try:
                is_own = owner_of(self._rows, row) == tenant
            except UnknownForm:
                unknown.append(f"{self.name}: {row['pk']}")
                continue
            if is_own and not _stays(tenant, key):
                keys.append(key)
        dynamo.batch_delete(self._client, self._table, keys)
        return Erased(
            removed=len(keys), unknown=tuple(unknown), after=answer.get("LastEvaluatedKey")
        )

    def _request(self, tenant: str, after: Any) -> dict[str, Any]:
        names = ["pk", "tenant", "session_id", *(["sk"] if self._rows.has_sort_key else [])]
        found = ["contains(#pk, :name)", "#tenant = :name", "begins_with(#session_id, :name)"]
        if self._rows.has_sort_key:
            found.append("contains(#sk, :name)")
        return {
            "TableName": self._table,
            "ConsistentRead": True,
            "Limit": _ROWS,
            "FilterExpression": " OR ".join(found),
            "ProjectionExpression": ", ".join(f"#{name}" for name in names),
            "ExpressionAttributeNames": {f"#{name}": name for name in names},
            "ExpressionAttributeValues": {":name": tenant},
            **({} if after is None else {"ExclusiveStartKey": after}),
        }


class DynamoDeletions:
    """Implements DeletionStore."""

    def __init__(self, client: DynamoDBClient, tenancy_table: str) -> None:
        self._client = client
        self._table = tenancy_table

    def get(self, tenant: str) -> Deletion | None:
        row = dynamo.get(self._client, self._table, _state_key(tenant))
        if not row:
            return None
        stored = json.loads(row["state"])
        return Deletion(**{**stored, "unknown": tuple(stored["unknown"])})

    def put(self, tenant: str, deletion: Deletion) -> None:
        state = json.dumps(asdict(deletion))
        dynamo.put_item(self._client, self._table, {**_state_key(tenant), "state": state})

    def forget(self, tenant: str) -> None:
        dynamo.delete_item(self._client, self._table, _state_key(tenant))


def _state_key(tenant: str) -> Item:
    return {**tenant_key(tenant), "sk": _STATE}


def _stays(tenant: str, key: Item) -> bool:
    """Return whether the row is needed until the deletion ends."""
    return key["pk"] in (tenant_key(tenant)["pk"], hold_key(tenant)["pk"])

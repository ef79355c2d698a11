"""Maintenance windows on DynamoDB, in the table Targets.

pk `T#<tenant>#WINDOWS`, sk `<id>`    a window; ids sort by time
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from spinneret.aws import dynamo
from spinneret.aws.reads import items
from spinneret.kernel.ids import is_id
from spinneret.monitoring.windows.models import MaintenanceWindow

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class DynamoWindowStore:
    """Implements WindowStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def all(self, tenant: str) -> list[MaintenanceWindow]:
        """See WindowStore."""
        request = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": _partition(tenant)},
            "ConsistentRead": True,
        }
        return [_window(item) for item in items(self._client.query, request)]

    def get(self, tenant: str, window_id: str) -> MaintenanceWindow | None:
        """See WindowStore."""
        if not is_id(window_id):
            return None
        key = {"pk": _partition(tenant), "sk": window_id}
        item = dynamo.get(self._client, self._table, key)
        return _window(item) if item else None

    def put(self, window: MaintenanceWindow, former: MaintenanceWindow | None) -> bool:
        """See WindowStore."""
        version = None if former is None else former.version
        item = {
            **_key(window),
            "version": window.version,
            "window": _adapter().dump_json(window).decode(),
        }
        return dynamo.transact_if(
            self._client, [dynamo.put(self._table, item, dynamo.equals(version=version))]
        )

    def remove(self, window: MaintenanceWindow) -> bool:
        """See WindowStore."""
        unchanged = dynamo.equals(version=window.version)
        return dynamo.transact_if(
            self._client, [dynamo.delete(self._table, _key(window), unchanged)]
        )


def _partition(tenant: str) -> str:
    return f"T#{tenant}#WINDOWS"


def _key(window: MaintenanceWindow) -> dict[str, str]:
    return {"pk": _partition(window.tenant), "sk": window.id}


def _window(item: Any) -> MaintenanceWindow:
    return _adapter().validate_json(item["window"])


@cache
def _adapter() -> TypeAdapter[MaintenanceWindow]:
    return TypeAdapter(MaintenanceWindow)

"""Maintenance windows on DynamoDB, in the table Targets.

pk `T#<tenant>#WINDOWS`, sk `<id>`    a window; ids sort by time
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from spinneret.aws import dynamo
from spinneret.aws.clients import translated
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
        """See WindowStore; fifty windows of 4 KB at most are one page."""
        with translated("dynamodb"):
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk",
                ExpressionAttributeValues={":pk": _partition(tenant)},
                ConsistentRead=True,
            )
        return [_window(item) for item in answer["Items"]]

    def get(self, tenant: str, window_id: str) -> MaintenanceWindow | None:
        """See WindowStore."""
        if not is_id(window_id):
            return None
        key = {"pk": _partition(tenant), "sk": window_id}
        with translated("dynamodb"):
            answer = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        item = answer.get("Item")
        return None if item is None else _window(item)

    def put(self, window: MaintenanceWindow, former: MaintenanceWindow | None) -> bool:
        """See WindowStore."""
        version = None if former is None else former.version
        item = {
            **_key(window),
            "version": window.version,
            "window": _adapter().dump_json(window).decode(),
        }
        try:
            dynamo.transact(
                self._client, [dynamo.put(self._table, item, dynamo.equals(version=version))]
            )
        except dynamo.ConditionFailed:
            return False
        return True

    def remove(self, window: MaintenanceWindow) -> bool:
        """See WindowStore."""
        unchanged = dynamo.equals(version=window.version)
        try:
            dynamo.transact(self._client, [dynamo.delete(self._table, _key(window), unchanged)])
        except dynamo.ConditionFailed:
            return False
        return True


def _partition(tenant: str) -> str:
    return f"T#{tenant}#WINDOWS"


def _key(window: MaintenanceWindow) -> dict[str, str]:
    return {"pk": _partition(window.tenant), "sk": window.id}


def _window(item: Any) -> MaintenanceWindow:
    return _adapter().validate_json(item["window"])


@cache
def _adapter() -> TypeAdapter[MaintenanceWindow]:
    return TypeAdapter(MaintenanceWindow)

"""Maintenance windows on DynamoDB, in the table Targets.

pk `T#<tenant>#WINDOWS`, sk `<id>`    a window; ids sort by time
"""

import json
from dataclasses import fields
from functools import cache
from typing import Final

from pydantic import TypeAdapter

from spinneret.aws import dynamo
from spinneret.aws.codec import Codec
from spinneret.aws.dynamo import Item
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel.ids import is_id
from spinneret.monitoring.windows.models import MaintenanceWindow


class DynamoWindowStore(DynamoAdapter):
    """Implements WindowStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._rows = Table(client, table, WINDOWS)

    def all(self, tenant: str) -> list[MaintenanceWindow]:
        return self._rows.query_all("pk = :pk", {":pk": _partition(tenant)})

    def get(self, tenant: str, window_id: str) -> MaintenanceWindow | None:
        return self._rows.get(_key(tenant, window_id)) if is_id(window_id) else None

    def put(self, window: MaintenanceWindow, former: MaintenanceWindow | None) -> bool:
        version = None if former is None else former.version
        put = self._rows.put_write(window, dynamo.equals(version=version))
        return dynamo.transact_if(self._client, [put])

    def remove(self, window: MaintenanceWindow) -> bool:
        unchanged = dynamo.equals(version=window.version)
        gone = dynamo.delete(self._table, WINDOWS.key(window), unchanged)
        return dynamo.transact_if(self._client, [gone])


def _partition(tenant: str) -> str:
    return f"T#{tenant}#WINDOWS"


def _key(tenant: str, window_id: str) -> Item:
    return {"pk": _partition(tenant), "sk": window_id}


def _item(window: MaintenanceWindow) -> Item:
    return {"version": window.version, "window": _adapter().dump_json(window).decode()}


@cache
def _adapter() -> TypeAdapter[MaintenanceWindow]:
    return TypeAdapter(MaintenanceWindow)


WINDOWS: Final = Codec(
    MaintenanceWindow,
    key=lambda window: _key(window.tenant, window.id),
    keyed=[each.name for each in fields(MaintenanceWindow)],  # all in one attribute
    from_key=lambda item: json.loads(item["window"]),
    derived=_item,
)

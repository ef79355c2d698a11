"""Maintenance windows on DynamoDB, in the table Targets.

pk `T#<tenant>#WINDOWS`, sk `<id>`    a window; ids sort by time
"""

import json
from dataclasses import fields
from functools import cache
from typing import Final

from pydantic import TypeAdapter

from spinneret.aws.codec import Codec
from spinneret.aws.dynamo import Item
from spinneret.aws.tenant_rows import TenantRows
from spinneret.aws.types import DynamoDBClient
from spinneret.monitoring.windows.models import MaintenanceWindow


class DynamoWindowStore(TenantRows[MaintenanceWindow]):
    """Implements WindowStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table, WINDOWS, _partition)

    def all(self, tenant: str) -> list[MaintenanceWindow]:
        return self._rows.query_all("pk = :pk", {":pk": _partition(tenant)})


def _partition(tenant: str) -> str:
    return f"T#{tenant}#WINDOWS"


def _item(window: MaintenanceWindow) -> Item:
    return {"version": window.version, "window": _adapter().dump_json(window).decode()}


@cache
def _adapter() -> TypeAdapter[MaintenanceWindow]:
    return TypeAdapter(MaintenanceWindow)


WINDOWS: Final = Codec(
    MaintenanceWindow,
    key=lambda window: {"pk": _partition(window.tenant), "sk": window.id},
    keyed=[each.name for each in fields(MaintenanceWindow)],  # all in one attribute
    from_key=lambda item: json.loads(item["window"]),
    derived=_item,
)

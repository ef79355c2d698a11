"""The tables of infra/data.yaml, made from the template itself: tests use what is deployed."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from stack.deployment.templates import load

_TEMPLATE = Path(__file__).resolve().parents[1] / "infra" / "data.yaml"
_SHAPE = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode")


def create_tables(client: Any) -> dict[str, str]:
    """Create every table under a fresh name; answers logical id → name.

    `client` may be a plain client or one that takes Python values.
    """
    suffix = uuid4().hex[:12]
    names = {}
    for logical_id, resource in load(_TEMPLATE)["Resources"].items():
        if resource["Type"] != "AWS::DynamoDB::Table":
            continue
        properties = resource["Properties"]
        name = f"contract-{logical_id.lower()}-{suffix}"
        client.create_table(
            TableName=name, **{part: properties[part] for part in _SHAPE if part in properties}
        )
        client.get_waiter("table_exists").wait(
            TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 30}
        )
        names[logical_id] = name
    return names


def delete_tables(client: Any, names: dict[str, str]) -> None:
    """Delete what `create_tables` made."""
    for name in names.values():
        client.delete_table(TableName=name)

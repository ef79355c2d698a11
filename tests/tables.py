"""The tables of infra/, created from the templates, so that tests use the deployed definitions."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from stack.deployment.templates import load

_TEMPLATES = Path(__file__).resolve().parents[1] / "infra"
_SHAPE = (
    "AttributeDefinitions",
    "KeySchema",
    "GlobalSecondaryIndexes",
    "LocalSecondaryIndexes",
    "BillingMode",
)


def create_tables(client: Any) -> dict[str, str]:
    """Create every table under a new name; return logical id → name.

    `client` may be a plain client or one that takes Python values.
    """
    suffix = uuid4().hex[:12]
    names = {}
    for logical_id, shape in _shapes().items():
        name = names[logical_id] = f"contract-{logical_id.lower()}-{suffix}"
        client.create_table(TableName=name, **shape)
        client.get_waiter("table_exists").wait(
            TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 30}
        )
    return names


def delete_tables(client: Any, names: dict[str, str]) -> None:
    """Delete the tables that `create_tables` created."""
    for name in names.values():
        client.delete_table(TableName=name)


@contextmanager
def own_tables(client: Any) -> Iterator[dict[str, str]]:
    """Create every table with `create_tables`; delete all tables at the end."""
    names = create_tables(client)
    try:
        yield names
    finally:
        delete_tables(client, names)


@cache
def _shapes() -> dict[str, dict[str, Any]]:
    """Return logical id → properties that a test table has in common with the deployed one."""
    return {
        logical_id: {part: value for part, value in each["Properties"].items() if part in _SHAPE}
        for template in sorted(_TEMPLATES.glob("*.yaml"))
        for logical_id, each in load(template)["Resources"].items()
        if each["Type"] == "AWS::DynamoDB::Table"
    }

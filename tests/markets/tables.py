"""The three tables of publishing on moto, in a separate region.

moto copies all tables of a region for each transaction.
"""

from typing import Any, Final

import boto3
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.model_instances import reset_model_data
from moto.dynamodb.models import dynamodb_backends

from tests.contract.backends import Tables
from tests.tables import create_tables

_REGION: Final = "eu-central-1"
_NEEDED: Final = frozenset({"Jobs", "Idempotency", "Marketplace"})
_names: dict[str, str] = {}


def market_tables(session: boto3.Session) -> Tables:
    """Return empty tables; moto must be active."""
    reset_model_data()
    made: Any = session.resource("dynamodb", region_name=_REGION)
    client = made.meta.client
    if not _names:
        _names.update(create_tables(client))
        for name in set(_names) - _NEEDED:
            client.delete_table(TableName=_names[name])
    empty()
    return Tables(client, _names)


def empty() -> None:
    """Remove all items of the tables, and moto's copies."""
    reset_model_data()
    for each in dynamodb_backends[DEFAULT_ACCOUNT_ID][_REGION].tables.values():
        each.items.clear()

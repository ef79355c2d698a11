"""Lists of a tenant's keys and people on DynamoDB, which each change of one of them checks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from spinneret.access.tenants.rules import require_active
from spinneret.aws import dynamo
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef

RACES: Final = 5
"""Tries of a change: concurrent ones of one tenant are rare."""


def change_list(
    client: DynamoDBClient,
    table: str,
    place: dynamo.Item,
    attribute: str,
    change: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    writes: Sequence[TransactWriteItemTypeDef],
) -> bool:
    """Write together with the changed list; return False if a condition fails.

    The row at `place` has the list, a version and, while the tenant is suspended, `suspended`.
    Raises TenantSuspended.
    """
    former = dynamo.get(client, table, place)
    require_active(former.get("suspended"))
    version = int(former.get("version", 0))
    changed = dict(change(former.get(attribute, {})))
    row = {**place, "version": version + 1, attribute: changed}
    unchanged = dynamo.equals(version=version) if former else dynamo.ABSENT
    return dynamo.transact_if(client, [dynamo.put(table, row, unchanged), *writes])

"""Preferences on DynamoDB.

Marketplace table
    pk `T#<tenant>#PREFERENCES`, sk `<marketplace>`    how a seller sells there
"""

from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.codec import SPARSE, Codec, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.table import Table
from spinneret.aws.types import DynamoDBClient
from spinneret.marketplace.preferences.models import Preferences


class DynamoPreferences:
    """Implements PreferenceStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._rows = Table(client, table, PREFERENCES)

    def get(self, tenant: str, marketplace: str) -> Preferences:
        stored = self._rows.get(_key(tenant, marketplace))
        return stored or Preferences(tenant=tenant, marketplace=marketplace)

    def replace(self, preferences: Preferences) -> bool:
        former = preferences.version - 1
        return self._rows.replace(preferences, dynamo.equals(version=former or None))


def _key(tenant: str, marketplace: str) -> Item:
    return {"pk": f"T#{tenant}#PREFERENCES", "sk": marketplace}


PREFERENCES: Final = Codec(
    Preferences,
    key=lambda each: _key(each.tenant, each.marketplace),
    keyed=("tenant", "marketplace"),
    from_key=lambda item: {"tenant": tenant_of(item), "marketplace": item["sk"]},
    columns={"choices": SPARSE},
)

"""Signing keys on DynamoDB: one item of the tenancy table, `SIGNING` / `KEYS`, of all tenants."""

from spinneret.access.tokens import items
from spinneret.access.tokens.models import KeySet
from spinneret.aws import dynamo
from spinneret.aws.table import Table
from spinneret.aws.types import DynamoDBClient


class DynamoKeySetStore:
    """Implements KeySetStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._sets = Table(client, table, items.KEY_SETS)

    def read(self) -> KeySet:
        return self._sets.get(items.KEY) or KeySet()

    def replace(self, former: KeySet, keys: KeySet) -> bool:
        version = former.version or None
        return self._sets.replace(keys, dynamo.equals(version=version))

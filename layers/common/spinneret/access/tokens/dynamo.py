"""Signing keys on DynamoDB: one item of the tenancy table, `SIGNING` / `KEYS`, of all tenants."""

from typing import Final

from spinneret.access.tokens.models import KeySet
from spinneret.aws import dynamo
from spinneret.aws.codec import Codec
from spinneret.aws.table import Table
from spinneret.aws.types import DynamoDBClient

_KEY: Final[dynamo.Item] = {"pk": "SIGNING", "sk": "KEYS"}
KEY_SETS: Final = Codec(KeySet, key=lambda _: _KEY)


class DynamoKeySetStore:
    """Implements KeySetStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._sets = Table(client, table, KEY_SETS)

    def read(self) -> KeySet:
        return self._sets.get(_KEY) or KeySet()

    def replace(self, former: KeySet, keys: KeySet) -> bool:
        version = former.version or None
        return self._sets.replace(keys, dynamo.equals(version=version))

"""API keys on DynamoDB.

Tenancy table
    pk `KEY#<sha256 of the secret>`   one API key; looked up by every request
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spinneret.adapters.aws import translated
from spinneret.kernel.clock import parse_stamp, stamp
from spinneret.tenancy.models import ApiKey, Scope

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class DynamoKeyStore:
    """Implements KeyStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def add(self, key: ApiKey) -> None:
        """See KeyStore."""
        item: dict[str, Any] = {
            "pk": f"KEY#{key.secret_hash}",
            "id": key.id,
            "tenant": key.tenant,
            "name": key.name,
            "scopes": sorted(key.scopes),
            "created_at": stamp(key.created_at),
        }
        if key.expires_at is not None:
            item["expires_at"] = stamp(key.expires_at)
        with translated("dynamodb"):
            self._client.put_item(
                TableName=self._table,
                Item=item,
                ConditionExpression="attribute_not_exists(pk)",
            )

    def find(self, secret_hash: str) -> ApiKey | None:
        """See KeyStore; consistent, so that a revoked key is refused at once."""
        with translated("dynamodb"):
            answer = self._client.get_item(
                TableName=self._table, Key={"pk": f"KEY#{secret_hash}"}, ConsistentRead=True
            )
        item: Any = answer.get("Item")
        if not item:
            return None
        expires_at = item.get("expires_at")
        return ApiKey(
            id=item["id"],
            tenant=item["tenant"],
            name=item["name"],
            secret_hash=secret_hash,
            scopes=frozenset(Scope(scope) for scope in item["scopes"]),
            created_at=parse_stamp(item["created_at"]),
            expires_at=parse_stamp(expires_at) if expires_at else None,
        )

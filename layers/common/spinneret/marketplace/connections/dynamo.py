"""Connections on DynamoDB.

Marketplace table
    pk `T#<tenant>#CONNECTIONS`, sk `<marketplace>`    a seller's leave; tokens are sealed
    pk `T#<tenant>#CONSENTS`, sk `<hash of state>`     a seller on the way to agree; taken once
    pk `SELLERS`, sk `<marketplace>#<tenant>`          who is connected: what the passes over all
                                                       tenants read; `job_id` last read the orders
    pk `ACCOUNT#<marketplace>#<account>`, sk `TENANT`  whose account it is: what a webhook is about
                                                       is found by it, once it was verified

`purge_at` is DynamoDB's TTL.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from spinneret.aws import dynamo
from spinneret.aws.clients import translated
from spinneret.kernel.clock import (
    epoch_seconds,
    optional_stamp,
    parse_optional_stamp,
    parse_stamp,
    stamp,
)
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.paging import Page
from spinneret.marketplace.connections.models import (
    Connection,
    ConnectionStatus,
    PendingConsent,
    Seller,
)

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_RACES: Final = 5  # writers of one connection at the same time
_NONE: Final[dynamo.Condition] = ("attribute_not_exists(#pk)", {})
_WHATEVER: Final[dynamo.Condition] = (
    "attribute_exists(#pk) OR attribute_not_exists(#pk)",
    {},
)


class DynamoConnections:
    """Implements ConnectionStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def get(self, tenant: str, marketplace: str) -> Connection | None:
        """See ConnectionStore."""
        with translated("dynamodb"):
            answer = self._client.get_item(
                TableName=self._table, Key=_key(tenant, marketplace), ConsistentRead=True
            )
        found = answer.get("Item")
        return _connection(tenant, found) if found else None

    def put(self, connection: Connection) -> None:
        """See ConnectionStore. Its version is above every one that was read before, so that no
        writer of older tokens takes it for its own."""
        for _ in range(_RACES):
            former = self.get(connection.tenant, connection.marketplace)
            version = former.version + 1 if former else connection.first_version
            stands = dynamo.equals(version=former.version) if former else _NONE
            item = _item(replace(connection, version=version))
            writes = [dynamo.put(self._table, item, stands), *self._known(connection)]
            try:
                dynamo.transact(self._client, writes)
            except dynamo.ConditionFailed:
                continue
            return
        raise DependencyUnavailable("dynamodb", "the connection is changing")

    def replace(self, connection: Connection) -> bool:
        """See ConnectionStore."""
        former = dynamo.equals(version=connection.version - 1)
        writes = [dynamo.put(self._table, _item(connection), former), *self._known(connection)]
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed:
            return False
        return True

    def _known(self, connection: Connection) -> list[TransactWriteItemTypeDef]:
        """What passes find the seller by, with the job that reads the orders, and who a verified
        webhook about the account is for."""
        seller = _seller(connection.tenant, connection.marketplace)
        keeps = ("SET #job_id = if_not_exists(#job_id, :none)", {":none": ""})
        writes = [dynamo.change(self._table, seller, keeps, _WHATEVER)]
        if connection.account is not None:
            key = _owner(connection.marketplace, connection.account)
            writes.append(dynamo.put(self._table, {**key, "tenant": connection.tenant}))
        return writes

    def owner(self, marketplace: str, account: str) -> str | None:
        """See ConnectionStore."""
        with translated("dynamodb"):
            answer = self._client.get_item(
                TableName=self._table, Key=_owner(marketplace, account), ConsistentRead=True
            )
        found = answer.get("Item")
        return str(found["tenant"]) if found else None

    def remove(self, tenant: str, marketplace: str) -> None:
        """See ConnectionStore."""
        keys = _key(tenant, marketplace), _seller(tenant, marketplace)
        dynamo.transact(self._client, [dynamo.delete(self._table, key, _WHATEVER) for key in keys])

    def forget(self, seller: Seller) -> None:
        """See ConnectionStore."""
        tenant, marketplace = seller.tenant, seller.marketplace
        writes = [
            dynamo.check(self._table, _key(tenant, marketplace), _NONE),
            dynamo.delete(self._table, _seller(tenant, marketplace), _WHATEVER),
        ]
        with suppress(dynamo.ConditionFailed):
            dynamo.transact(self._client, writes)

    def sellers(self, after: str | None, limit: int) -> Page[Seller]:
        """See ConnectionStore."""
        condition, values = "pk = :pk", {":pk": "SELLERS"}
        if after is not None:
            condition += " AND sk > :after"
            values[":after"] = after
        with translated("dynamodb"):
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression=condition,
                ExpressionAttributeValues=values,
                ConsistentRead=True,
                Limit=limit + 1,
            )
        rows: list[dict[str, Any]] = answer["Items"]
        found = []
        for row in rows[:limit]:
            marketplace, _, tenant = row["sk"].partition("#")
            job_id = row.get("job_id") or None
            found.append(Seller(tenant=tenant, marketplace=marketplace, job_id=job_id))
        more = str(rows[limit - 1]["sk"]) if len(rows) > limit else None
        return Page(items=tuple(found), after=more)

    def polled(self, seller: Seller) -> None:
        """See ConnectionStore."""
        key = _seller(seller.tenant, seller.marketplace)
        stands: dynamo.Condition = ("attribute_exists(#pk)", {})
        change = dynamo.update(self._table, key, {"job_id": seller.job_id}, stands)
        with suppress(dynamo.ConditionFailed):
            dynamo.transact(self._client, [change])

    def begin(self, consent: PendingConsent) -> None:
        """See ConnectionStore."""
        item = {
            "pk": f"T#{consent.tenant}#CONSENTS",
            "sk": consent.state_hash,
            "marketplace": consent.marketplace,
            "verifier": list(consent.sealed_verifier),
            "expires_at": stamp(consent.expires_at),
            "purge_at": epoch_seconds(consent.expires_at),
        }
        dynamo.transact(self._client, [dynamo.put(self._table, item)])

    def take(self, tenant: str, state_hash: str) -> PendingConsent | None:
        """See ConnectionStore: one delete that answers what it deleted."""
        with translated("dynamodb"):
            answer: Any = self._client.delete_item(
                TableName=self._table,
                Key={"pk": f"T#{tenant}#CONSENTS", "sk": state_hash},
                ReturnValues="ALL_OLD",
            )
        found = answer.get("Attributes")
        if not found:
            return None
        return PendingConsent(
            tenant=tenant,
            state_hash=state_hash,
            marketplace=found["marketplace"],
            sealed_verifier=_parts(found["verifier"]),
            expires_at=parse_stamp(found["expires_at"]),
        )


def _key(tenant: str, marketplace: str) -> dict[str, str]:
    return {"pk": f"T#{tenant}#CONNECTIONS", "sk": marketplace}


def _seller(tenant: str, marketplace: str) -> dict[str, str]:
    return {"pk": "SELLERS", "sk": f"{marketplace}#{tenant}"}


def _owner(marketplace: str, account: str) -> dict[str, str]:
    return {"pk": f"ACCOUNT#{marketplace}#{account}", "sk": "TENANT"}


def _parts(stored: list[Any]) -> tuple[bytes, ...]:
    """DynamoDB's binaries as bytes."""
    return tuple(bytes(each) for each in stored)


def _item(connection: Connection) -> dict[str, Any]:
    kept = {
        **_key(connection.tenant, connection.marketplace),
        "status": connection.status.value,
        "access": list(connection.sealed_access),
        "refresh": list(connection.sealed_refresh),
        "scopes": list(connection.scopes),
        "account": connection.account,
        "expires_at": stamp(connection.expires_at),
        "refresh_expires_at": optional_stamp(connection.refresh_expires_at),
        "connected_at": stamp(connection.connected_at),
        "settings": json.dumps(dict(connection.settings)),
        "refreshing_until": optional_stamp(connection.refreshing_until),
        "version": connection.version,
    }
    return {name: value for name, value in kept.items() if value is not None}


def _connection(tenant: str, item: dict[str, Any]) -> Connection:
    return Connection(
        tenant=tenant,
        marketplace=item["sk"],
        status=ConnectionStatus(item["status"]),
        sealed_access=_parts(item["access"]),
        sealed_refresh=_parts(item["refresh"]),
        scopes=tuple(item["scopes"]),
        account=item.get("account"),
        expires_at=parse_stamp(item["expires_at"]),
        refresh_expires_at=parse_optional_stamp(item.get("refresh_expires_at")),
        connected_at=parse_stamp(item["connected_at"]),
        settings=json.loads(item["settings"]),
        refreshing_until=parse_optional_stamp(item.get("refreshing_until")),
        version=int(item["version"]),
    )

"""Connections on DynamoDB.

Marketplace table
    pk `T#<tenant>#CONNECTIONS`, sk `<marketplace>`    an authorization; tokens are sealed
    pk `T#<tenant>#CONSENTS`, sk `<hash of state>`     a pending consent; taken once
    pk `SELLERS`, sk `<marketplace>#<tenant>`          a connected seller, for the passes over
                                                       all tenants; `job_id` last read the orders
    pk `ACCOUNT#<marketplace>#<account>`, sk `TENANT`  the tenant of an account, to which
                                                       verified webhooks are assigned

`purge_at` is DynamoDB's TTL.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.codec import JSON, Codec, Column, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.reads import page_of
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.paging import Page
from spinneret.kernel.races import until_written
from spinneret.marketplace.connections.models import (
    PendingConsent,
    Seller,
    SellerConnection,
)


class DynamoConnections(DynamoAdapter):
    """Implements SellerConnectionStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._rows = Table(client, table, CONNECTIONS)
        self._consents = Table(client, table, CONSENTS)

    def get(self, tenant: str, marketplace: str) -> SellerConnection | None:
        return self._rows.get(_key(tenant, marketplace))

    def put(self, connection: SellerConnection) -> None:
        """See the port. The new version exceeds every version read before, so that a writer with
        older tokens can't overwrite it."""

        def written() -> bool:
            former = self.get(connection.tenant, connection.marketplace)
            version = former.version + 1 if former else connection.first_version
            stands = dynamo.equals(version=former.version) if former else dynamo.ABSENT
            put = self._rows.put_write(replace(connection, version=version), stands)
            return dynamo.transact_if(self._client, [put, *self._known(connection)])

        until_written(written, DependencyUnavailable("dynamodb", "the connection is changing"))

    def replace(self, connection: SellerConnection) -> bool:
        former = dynamo.equals(version=connection.version - 1)
        writes = [self._rows.put_write(connection, former), *self._known(connection)]
        return dynamo.transact_if(self._client, writes)

    def _known(self, connection: SellerConnection) -> list[TransactWriteItemTypeDef]:
        """Build the writes of the seller's row, keeping its `job_id`, and of the account's row if
        the account is known."""
        seller = _seller(connection.tenant, connection.marketplace)
        keeps = ("SET #job_id = if_not_exists(#job_id, :none)", {":none": ""})
        writes = [dynamo.change(self._table, seller, keeps)]
        if connection.account is not None:
            key = _owner(connection.marketplace, connection.account)
            writes.append(dynamo.put(self._table, {**key, "tenant": connection.tenant}))
        return writes

    def owner(self, marketplace: str, account: str) -> str | None:
        found = dynamo.get(self._client, self._table, _owner(marketplace, account))
        return str(found["tenant"]) if found else None

    def remove(self, tenant: str, marketplace: str) -> None:
        keys = _key(tenant, marketplace), _seller(tenant, marketplace)
        dynamo.transact(self._client, [dynamo.delete(self._table, key) for key in keys])

    def forget(self, seller: Seller) -> None:
        tenant, marketplace = seller.tenant, seller.marketplace
        writes = [
            dynamo.check(self._table, _key(tenant, marketplace), dynamo.ABSENT),
            dynamo.delete(self._table, _seller(tenant, marketplace)),
        ]
        with suppress(dynamo.ConditionFailed):
            dynamo.transact(self._client, writes)

    def sellers(self, after: str | None, limit: int) -> Page[Seller]:
        return page_of(self._client, self._table, "SELLERS", after, limit).map(_listed)

    def polled(self, seller: Seller) -> None:
        key = _seller(seller.tenant, seller.marketplace)
        change = dynamo.update(self._table, key, {"job_id": seller.job_id}, dynamo.PRESENT)
        with suppress(dynamo.ConditionFailed):
            dynamo.transact(self._client, [change])

    def begin(self, consent: PendingConsent) -> None:
        dynamo.transact(self._client, [self._consents.put_write(consent)])

    def take(self, tenant: str, state_hash: str) -> PendingConsent | None:
        """See the port: one delete that returns the deleted row."""
        return self._consents.delete(_consent(tenant, state_hash))


def _key(tenant: str, marketplace: str) -> Item:
    return {"pk": f"T#{tenant}#CONNECTIONS", "sk": marketplace}


def _seller(tenant: str, marketplace: str) -> Item:
    return {"pk": "SELLERS", "sk": f"{marketplace}#{tenant}"}


def _owner(marketplace: str, account: str) -> Item:
    return {"pk": f"ACCOUNT#{marketplace}#{account}", "sk": "TENANT"}


def _listed(row: Item) -> Seller:
    marketplace, _, tenant = row["sk"].partition("#")
    return Seller(tenant=tenant, marketplace=marketplace, job_id=row.get("job_id") or None)


def _consent(tenant: str, state_hash: str) -> Item:
    return {"pk": f"T#{tenant}#CONSENTS", "sk": state_hash}


CONNECTIONS: Final = Codec(
    SellerConnection,
    key=lambda connection: _key(connection.tenant, connection.marketplace),
    keyed=("tenant", "marketplace"),
    from_key=lambda item: {"tenant": tenant_of(item), "marketplace": item["sk"]},
    columns={
        "sealed_access": Column(attribute="access"),
        "sealed_refresh": Column(attribute="refresh"),
        "settings": JSON,
    },
)

CONSENTS: Final = Codec(
    PendingConsent,
    key=lambda consent: _consent(consent.tenant, consent.state_hash),
    keyed=("tenant", "state_hash"),
    from_key=lambda item: {"tenant": tenant_of(item), "state_hash": item["sk"]},
    columns={"sealed_verifier": Column(attribute="verifier")},
    derived=lambda consent: {"purge_at": epoch_seconds(consent.expires_at)},
)

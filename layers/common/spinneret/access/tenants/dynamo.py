"""Tenants on DynamoDB.

Tenancy table
    pk `T#<tenant>#TENANT`, sk `TENANT`    the state; only the operator's commands read it

A reason for suspension is the attribute `suspended` of the rows that authentication reads anyway:
keys (`KEY#<hash>` and the list of keys) and users. It is also in the rows that each change of keys
or people checks, ROSTER and PEOPLE, which are marked first: a key or user that is added meanwhile
is either refused or in the list that is read afterwards.
"""

from collections.abc import Iterator
from typing import Final

from spinneret.access.keys import items as keys
from spinneret.access.tenants.models import Tenant
from spinneret.access.users import items as users
from spinneret.aws import dynamo
from spinneret.aws.codec import Codec, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.reads import query
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient


class DynamoTenantStore(DynamoAdapter):
    """Implements TenantStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._rows = Table(client, table, TENANTS)

    def get(self, name: str) -> Tenant | None:
        return self._rows.get(tenant_key(name))

    def is_known(self, name: str) -> bool:
        places = [tenant_key(name), keys.roster_key(name), users.people_key(name)]
        return bool(dynamo.batch_get(self._client, self._table, places))

    def add(self, tenant: Tenant) -> bool:
        return self._rows.replace(tenant, dynamo.ABSENT)

    def put(self, tenant: Tenant) -> None:
        self._rows.put(tenant)

    def mark(self, name: str, reason: str | None) -> None:
        for place in (keys.roster_key(name), users.people_key(name)):
            # Their changes are conditional on the version.
            self._set(place, reason, " ADD #version :one", {":one": 1})
        for row in self._of(keys.list_partition(name)):
            self._set_if_present({"pk": row["pk"], "sk": row["sk"]}, reason)
            self._set_if_present(keys.credential_key(row["secret_hash"]), reason)
        for row in self._of(users.partition(name)):
            self._set_if_present({"pk": row["pk"], "sk": row["sk"]}, reason)

    def forget(self, name: str) -> None:
        dynamo.delete_item(self._client, self._table, tenant_key(name))

    def _of(self, partition: str) -> Iterator[Item]:
        values = {":pk": partition}
        return query(self._client, self._table, "pk = :pk", values, ConsistentRead=True)

    def _set_if_present(self, key: Item, reason: str | None) -> None:
        """Mark a row, unless DynamoDB has purged it meanwhile."""
        self._set(key, reason, condition=dynamo.PRESENT[0])

    def _set(
        self,
        key: Item,
        reason: str | None,
        more: str = "",
        values: Item | None = None,
        condition: str = "",
    ) -> None:
        change = "REMOVE #suspended" if reason is None else "SET #suspended = :reason"
        given = {**(values or {}), **({} if reason is None else {":reason": reason})}
        dynamo.update_if(self._client, self._table, key, change + more, given, condition)


def tenant_key(name: str) -> Item:
    """Return the primary key of a tenant's row."""
    return {"pk": f"T#{name}#TENANT", "sk": "TENANT"}


TENANTS: Final = Codec(
    Tenant,
    key=lambda tenant: tenant_key(tenant.name),
    keyed=("name",),
    from_key=lambda item: {"name": tenant_of(item)},
)

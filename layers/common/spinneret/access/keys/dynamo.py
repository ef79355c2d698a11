"""API keys and tickets on DynamoDB.

Tenancy table
    pk `KEY#<sha256 of the secret>`, sk `KEY`      the credential; every request reads it
    pk `KEY#<sha256 of the secret>`, sk `TICKET`   a ticket for one job
    pk `T#<tenant>#KEYS`, sk `<key id>`            the same key in its tenant's list; query by
                                                   partition, ordered by id and thus by time
    pk `T#<tenant>#ROSTER`, sk `ROSTER`            ids of the tenant's active keys with their
                                                   expiry, and a version that every change checks;
                                                   `suspended` refuses all changes
    pk `T#<tenant>#RATE#<key id>`, sk `SLOTS`      the key's rate window (dynamo_windows.py);
                                                   separate from the credential, so that a flood
                                                   of writes never slows reading it, and IAM can
                                                   let a function write windows only

Keys are added and revoked in one transaction over credential, list row and roster. `purge_at`
(epoch seconds) is DynamoDB's TTL attribute: it removes garbage and never decides anything.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from spinneret.access.dynamo import RACES, change_list
from spinneret.access.keys import items
from spinneret.access.keys.models import ApiKey, StoredTicket
from spinneret.aws import dynamo
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.kernel.errors import Conflict, DependencyUnavailable
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.kernel.races import until_written

_UNREVOKED: Final[dynamo.Condition] = (
    "attribute_exists(#pk) AND attribute_not_exists(#revoked_at)",
    {},
)


class DynamoKeyStore(DynamoAdapter):
    """Implements KeyStore; see the module's docstring for the key design."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._keys = Table(client, table, items.KEYS)
        self._tickets = Table(client, table, items.TICKETS)

    def add(self, key: ApiKey, now: datetime, at_most: int | None) -> None:
        listed = items.KEYS.encode(key)
        credential = {**listed, **items.credential_key(key.secret_hash)}
        writes = [dynamo.put(self._table, each, dynamo.ABSENT) for each in (credential, listed)]

        def enlisted(roster: Mapping[str, str]) -> dict[str, str]:
            active = items.still_active(roster, now)
            if at_most is not None and len(active) >= at_most:
                raise Conflict(
                    f"a tenant has at most {at_most} active keys; revoke one first",
                    details={"active": len(active)},
                )
            return {**active, key.id: items.roster_entry(key)}

        until_written(lambda: self._change(key.tenant, enlisted, writes), _changing(), RACES)

    def find(self, secret_hash: str) -> ApiKey | None:
        """See KeyStore; consistent, so that a revoked key is refused at once."""
        return self._keys.get(items.credential_key(secret_hash))

    def get(self, tenant: str, key_id: str) -> ApiKey | None:
        return self._keys.get(items.listed_key(tenant, key_id)) if is_id(key_id) else None

    def page(self, tenant: str, after: str | None, limit: int) -> Page[ApiKey]:
        """See KeyStore: one query."""
        return self._keys.page(items.list_partition(tenant), after, limit, newest_first=True)

    def revoke(self, tenant: str, key_id: str, now: datetime) -> ApiKey | None:
        def struck(roster: Mapping[str, str]) -> dict[str, str]:
            return {each: end for each, end in roster.items() if each != key_id}

        for _ in range(RACES):
            key = self.get(tenant, key_id)
            if key is None or key.revoked_at is not None:
                return key
            writes = [
                dynamo.update(self._table, place, items.revocation(now), _UNREVOKED)
                for place in (
                    items.credential_key(key.secret_hash),
                    items.listed_key(tenant, key_id),
                )
            ]
            self._change(tenant, struck, writes)
        raise _changing()

    def add_ticket(self, ticket: StoredTicket) -> None:
        self._tickets.put(ticket)

    def find_ticket(self, secret_hash: str) -> StoredTicket | None:
        return self._tickets.get(items.ticket_key(secret_hash))

    def _change(
        self,
        tenant: str,
        change: Callable[[Mapping[str, str]], Mapping[str, str]],
        writes: Sequence[TransactWriteItemTypeDef],
    ) -> bool:
        place = items.roster_key(tenant)
        return change_list(self._client, self._table, place, "active", change, writes)


def _changing() -> DependencyUnavailable:
    return DependencyUnavailable("dynamodb", "the tenant's keys are changing")

"""Endpoints and default secrets on DynamoDB.

Webhooks table
    pk `T#<tenant>#ENDPOINTS`, sk `<endpoint id>`       an endpoint; lists by partition in the order
                                                        of ids, which is by time
    pk `T#<tenant>#ENDPOINT-COUNT`, sk `COUNT`          number of endpoints; every addition and
                                                        removal changes it in one transaction
    pk `T#<tenant>#DEFAULT-SECRET`, sk `SECRET`         signs deliveries to `webhook_url`s
    (deliveries and cooldowns: see dynamo_deliveries)

`purge_at` (epoch seconds) is DynamoDB's TTL attribute: garbage collection, never a condition.
"""

from collections.abc import Sequence

from spinneret.aws import dynamo
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient
from spinneret.events.webhooks import items
from spinneret.events.webhooks.models import Endpoint, SealedSecrets
from spinneret.kernel.errors import Conflict
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page


class DynamoEndpointStore(DynamoAdapter):
    """Implements EndpointStore; see the module's docstring for the key design."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._rows = Table(client, table, items.ENDPOINTS)
        self._defaults = Table(client, table, items.SECRETS)

    def add(self, endpoint: Endpoint, at_most: int) -> None:
        one_more = dynamo.change(
            self._table,
            items.count_key(endpoint.tenant),
            ("ADD #count :one", {":one": 1}),
            ("attribute_not_exists(#count) OR #count < :most", {":most": at_most}),
        )
        writes = [one_more, self._rows.put_write(endpoint, dynamo.ABSENT)]
        if not dynamo.transact_if(self._client, writes):
            raise Conflict(
                f"a tenant has at most {at_most} webhooks; delete one first",
                details={"webhooks": at_most},
            )

    def get(self, tenant: str, endpoint_id: str) -> Endpoint | None:
        return self.find(tenant, [endpoint_id]).get(endpoint_id)

    def find(self, tenant: str, endpoint_ids: Sequence[str]) -> dict[str, Endpoint]:
        """See EndpointStore. One BatchGetItem."""
        keys = [items.endpoint_key(tenant, each) for each in endpoint_ids if is_id(each)]
        return {endpoint.id: endpoint for endpoint in self._rows.batch_get(keys)}

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Endpoint]:
        """See EndpointStore. One query."""
        partition = items.endpoints_partition(tenant)
        return self._rows.page(partition, after, limit, newest_first=True)

    def replace(self, former: Endpoint, endpoint: Endpoint) -> bool:
        unchanged = dynamo.equals(version=former.version)
        return dynamo.transact_if(self._client, [self._rows.put_write(endpoint, unchanged)])

    def remove(self, tenant: str, endpoint_id: str) -> bool:
        if not is_id(endpoint_id):
            return False
        one_less = dynamo.change(
            self._table, items.count_key(tenant), ("ADD #count :one", {":one": -1}), dynamo.PRESENT
        )
        key = items.endpoint_key(tenant, endpoint_id)
        return dynamo.transact_if(
            self._client, [one_less, dynamo.delete(self._table, key, dynamo.PRESENT)]
        )

    def default_secrets(self, tenant: str) -> SealedSecrets | None:
        return self._defaults.get(items.default_key(tenant))

    def replace_default(
        self, tenant: str, former: SealedSecrets | None, secrets: SealedSecrets
    ) -> bool:
        row = {**items.default_key(tenant), **items.SECRETS.encode(secrets)}
        unchanged = dynamo.ABSENT if former is None else dynamo.equals(secret=former.newest)
        return dynamo.transact_if(self._client, [dynamo.put(self._table, row, unchanged)])

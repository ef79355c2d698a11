"""The delivery log and the cooldowns on DynamoDB.

Webhooks table
    pk `T#<tenant>#DELIVERIES#<endpoint id>`, sk `<delivery id>`   a line of the log; pages by
                                                                   partition in the order of ids,
                                                                   which is by time; the id is empty
                                                                   for `webhook_url`s of single jobs
    pk `T#<tenant>#COOLDOWN#<sha256 of the target>`, sk `COOLDOWN`
                                                                   a target that is cooling down
"""

from dataclasses import replace
from datetime import datetime

from spinneret.aws import dynamo
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient
from spinneret.events.webhooks import items
from spinneret.events.webhooks.models import Cooldown, Delivery
from spinneret.jobs.dynamo import transact_under_lease
from spinneret.jobs.models import Lease
from spinneret.kernel.clock import to_iso
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page


class DynamoDeliveryLog(DynamoAdapter):
    """Implements DeliveryLog."""

    def __init__(self, client: DynamoDBClient, table: str, jobs_table: str) -> None:
        super().__init__(client, table)
        self._lines = Table(client, table, items.DELIVERIES)
        self._jobs = jobs_table

    def write(self, delivery: Delivery, lease: Lease, now: datetime) -> None:
        """See DeliveryLog. Writes the line and checks the lease's fence in one transaction."""
        line = dynamo.put(self._table, items.delivery_item(delivery, now))
        transact_under_lease(self._client, self._jobs, lease, [line])

    def get(self, tenant: str, endpoint_id: str | None, delivery_id: str) -> Delivery | None:
        if not is_id(delivery_id):
            return None
        return self._lines.get(items.delivery_key(tenant, endpoint_id, delivery_id))

    def page(
        self, tenant: str, endpoint_id: str | None, after: str | None, limit: int
    ) -> Page[Delivery]:
        """See DeliveryLog. One query."""
        partition = items.log_partition(tenant, endpoint_id)
        return self._lines.page(partition, after, limit, newest_first=True)


class DynamoCooldowns(DynamoAdapter):
    """Implements Cooldowns."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._rows = Table(client, table, items.COOLDOWNS)

    def find(self, tenant: str, target: str) -> Cooldown | None:
        return self._rows.get(items.cooldown_key(tenant, target))

    def put(self, tenant: str, target: str, cooldown: Cooldown) -> None:
        row = {**items.cooldown_key(tenant, target), **items.COOLDOWNS.encode(cooldown)}
        dynamo.put_item(self._client, self._table, row)

    def take_permit(self, tenant: str, target: str, seen: Cooldown, until: datetime) -> bool:
        """See Cooldowns. One conditional write."""
        key = items.cooldown_key(tenant, target)
        changes = items.COOLDOWNS.encode(replace(seen, until=until))
        unchanged = dynamo.equals(until=to_iso(seen.until), failures=seen.failures)
        permit = dynamo.update(self._table, key, changes, unchanged)
        return dynamo.transact_if(self._client, [permit])

    def end(self, tenant: str, target: str) -> None:
        self._rows.delete(items.cooldown_key(tenant, target))

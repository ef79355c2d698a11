"""The delivery log and the cooldowns on DynamoDB.

Webhooks table
    pk `T#<tenant>#DELIVERIES#<endpoint id>`, sk `<delivery id>`   a line of the log; pages by
                                                                   partition in the order of ids,
                                                                   which is by time; the id is empty
                                                                   for `webhook_url`s of single jobs
    pk `T#<tenant>#COOLDOWN#<sha256 of the target>`, sk `COOLDOWN`
                                                                   a target that is cooling down
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from spinneret.aws import dynamo
from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.reads import page_of
from spinneret.events.webhooks import items
from spinneret.events.webhooks.models import Cooldown, Delivery
from spinneret.jobs.dynamo import lease_check
from spinneret.jobs.models import Lease
from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import LeaseLost
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class DynamoDeliveryLog:
    """Implements DeliveryLog."""

    def __init__(self, client: DynamoDBClient, table: str, jobs_table: str) -> None:
        self._client = client
        self._table = table
        self._jobs = jobs_table

    def write(self, delivery: Delivery, lease: Lease, now: datetime) -> None:
        """See DeliveryLog. Writes the line and checks the lease's fence in one transaction."""
        line = dynamo.put(self._table, items.delivery_item(delivery, now))
        try:
            dynamo.transact(self._client, [lease_check(self._jobs, lease), line])
        except dynamo.ConditionFailed as failed:
            raise LeaseLost(f"job {lease.job_id} is no longer held by this claim") from failed

    def get(self, tenant: str, endpoint_id: str | None, delivery_id: str) -> Delivery | None:
        """See DeliveryLog."""
        if not is_id(delivery_id):
            return None
        key = {"pk": items.log_partition(tenant, endpoint_id), "sk": delivery_id}
        item = dynamo.get(self._client, self._table, key)
        return items.delivery_from_item(item) if item else None

    def page(
        self, tenant: str, endpoint_id: str | None, after: str | None, limit: int
    ) -> Page[Delivery]:
        """See DeliveryLog. One query."""
        page = page_of(
            self._client,
            self._table,
            items.log_partition(tenant, endpoint_id),
            after,
            limit,
            newest_first=True,
        )
        return Page(
            items=tuple(items.delivery_from_item(item) for item in page.items),
            after=page.after,
        )


class DynamoCooldowns:
    """Implements Cooldowns."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def find(self, tenant: str, target: str) -> Cooldown | None:
        """See Cooldowns."""
        item = dynamo.get(self._client, self._table, items.cooldown_key(tenant, target))
        return items.cooldown_from_item(item) if item else None

    def put(self, tenant: str, target: str, cooldown: Cooldown) -> None:
        """See Cooldowns."""
        row = {**items.cooldown_key(tenant, target), **items.cooldown_attributes(cooldown)}
        with translate_aws_errors("dynamodb"):
            self._client.put_item(TableName=self._table, Item=row)

    def take_permit(self, tenant: str, target: str, seen: Cooldown, until: datetime) -> bool:
        """See Cooldowns. One conditional write."""
        key = items.cooldown_key(tenant, target)
        changes = items.cooldown_attributes(Cooldown(failures=seen.failures, until=until))
        unchanged = dynamo.equals(until=to_iso(seen.until), failures=seen.failures)
        try:
            dynamo.transact(self._client, [dynamo.update(self._table, key, changes, unchanged)])
        except dynamo.ConditionFailed:
            return False
        return True

    def end(self, tenant: str, target: str) -> None:
        """See Cooldowns."""
        with translate_aws_errors("dynamodb"):
            self._client.delete_item(TableName=self._table, Key=items.cooldown_key(tenant, target))

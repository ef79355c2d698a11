"""Incidents on DynamoDB, in the table Targets.

pk `T#<tenant>#INCIDENTS#<target>`, sk `<start>#<id>`    an incident with its timeline; the
                                                         partition is a target's list
"""

from spinneret.aws import dynamo
from spinneret.aws.table import Table
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.kernel.clock import epoch_seconds, optional_stamp, to_iso
from spinneret.kernel.paging import Page
from spinneret.monitoring import limits
from spinneret.monitoring.incidents import items
from spinneret.monitoring.incidents.models import Incident, IncidentChange


class DynamoIncidentStore:
    """Implements IncidentStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._rows = Table(client, table, items.INCIDENTS)

    def page(self, tenant: str, target_id: str, after: str | None, limit: int) -> Page[Incident]:
        partition = items.partition(tenant, target_id)
        return self._rows.page(partition, after, limit, newest_first=True)


def incident_write(
    table: str, tenant: str, target_id: str, change: IncidentChange
) -> TransactWriteItemTypeDef:
    """Build the write that adds a check or a pause to an incident, as a part of a transaction.

    Its expiry follows the last timeline entry.
    """
    key = {
        "pk": items.partition(tenant, target_id),
        "sk": f"{to_iso(change.started_at)}#{change.id}",
    }
    entries = [] if change.entry is None else [items.ENTRIES.dump(change.entry)]
    at = change.started_at if change.entry is None else change.entry.at
    purge_at = epoch_seconds(change.ended_at or at) + limits.DAY_RETENTION_SECONDS
    if change.is_new:
        item = {
            **key,
            "id": change.id,
            "started_at": to_iso(change.started_at),
            "status": change.status.value,
            "timeline": entries,
            "purge_at": purge_at,
        }
        return dynamo.put(table, item)
    update = (
        "SET #status = :status, #purge_at = :purge_at, #timeline = list_append(#timeline, :entries)"
    )
    values = {":status": change.status.value, ":purge_at": purge_at, ":entries": entries}
    if change.ended_at is not None:
        update += ", #ended_at = :ended_at"
        values[":ended_at"] = optional_stamp(change.ended_at) or ""
    return dynamo.change(table, key, (update, values), ("attribute_exists(#pk)", {}))

"""Incidents on DynamoDB, in the table Targets.

pk `T#<tenant>#INCIDENTS#<target>`, sk `<start>#<id>`    an incident with its timeline; the
                                                         partition is a target's list
"""

from spinneret.aws import dynamo
from spinneret.aws.table import Table
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.kernel.clock import epoch_seconds, to_iso
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

    Its expiry follows its end. Earlier versions let an incident expire while it lasted: such a row
    loses its expiry, or is written again.
    """
    key = items.incident_key(tenant, target_id, change.started_at, change.id)
    values: dict[str, object] = {
        ":id": change.id,
        ":started_at": to_iso(change.started_at),
        ":status": change.status.value,
        ":entries": [] if change.entry is None else [items.ENTRIES.dump(change.entry)],
        ":none": [],
    }
    update = (
        "SET #id = :id, #started_at = :started_at, #status = :status, "
        "#timeline = list_append(if_not_exists(#timeline, :none), :entries)"
    )
    if change.ended_at is None:
        update += " REMOVE #purge_at"
    else:
        update += ", #ended_at = :ended_at, #purge_at = :purge_at"
        values[":ended_at"] = to_iso(change.ended_at)
        values[":purge_at"] = epoch_seconds(change.ended_at) + limits.DAY_RETENTION_SECONDS
    return dynamo.change(table, key, (update, values))

"""Scheduled audits on DynamoDB, in the table of audits (audits/dynamo.py).

    pk `T#<tenant>#SCHEDULES`, sk `<id>`    a schedule; list by partition, ordered by id
    index `due`: `SCHEDULE#<n>`, next run   active schedules

The index is eventually consistent and holds keys only.
"""

from datetime import datetime
from typing import Final

from spinneret.audits import limits
from spinneret.audits.items import due_shard
from spinneret.audits.schedules.models import AuditSchedule, ScheduleRef
from spinneret.aws.codec import SPARSE, Codec, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.reads import due_items
from spinneret.aws.tenant_rows import TenantRows
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel.clock import to_iso

_SHARD: Final = "SCHEDULE"


class DynamoScheduleStore(TenantRows[AuditSchedule]):
    """Implements ScheduleStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table, SCHEDULES, _partition)

    def due(self, now: datetime, limit: int) -> list[ScheduleRef]:
        shards = [f"{_SHARD}#{number}" for number in range(limits.DUE_SHARDS)]
        most = max(1, limit // limits.DUE_SHARDS)
        named = due_items(self._client, self._table, shards, now, most)
        return [ScheduleRef(tenant_of(each), each["sk"]) for each in named]


def _partition(tenant: str) -> str:
    return f"T#{tenant}#SCHEDULES"


def _due(schedule: AuditSchedule) -> Item:
    """Return the keys of the index `due`, empty while the schedule is inactive."""
    if schedule.next_run_at is None:
        return {}
    return {"due_shard": due_shard(_SHARD, schedule.id), "due_at": to_iso(schedule.next_run_at)}


def _upgrade(item: Item) -> Item:
    """Upgrade rows written before 2026-11-22, which call `is_active` `enabled`."""
    return {"is_active": item.get("enabled"), **item}


SCHEDULES: Final = Codec(
    AuditSchedule,
    key=lambda schedule: {"pk": _partition(schedule.tenant), "sk": schedule.id},
    keyed=("id",),
    from_key=lambda item: {"id": item["sk"]},
    columns={"header_names": SPARSE},
    derived=_due,
    upgrade=_upgrade,
)

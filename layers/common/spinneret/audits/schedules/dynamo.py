"""Scheduled audits on DynamoDB, in the table of audits (audits/dynamo.py).

    pk `T#<tenant>#SCHEDULES`, sk `<id>`    a schedule; lists by partition, in the order of ids
    index `due`: `SCHEDULE#<n>`, next run   those that are active

The index holds keys only and lags behind: what it names is read again before it is acted upon.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from spinneret.audits import limits
from spinneret.audits.items import due_shard
from spinneret.audits.schedules.models import AuditSchedule
from spinneret.aws import dynamo
from spinneret.aws.clients import translated
from spinneret.aws.reads import page_of
from spinneret.kernel.clock import optional_stamp, parse_optional_stamp, parse_stamp, stamp
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

_SHARD: Final = "SCHEDULE"
_NEW: Final[dynamo.Condition] = ("attribute_not_exists(#pk)", {})


class DynamoScheduleStore:
    """Implements ScheduleStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def add(self, schedule: AuditSchedule) -> None:
        """See ScheduleStore."""
        dynamo.transact(self._client, [dynamo.put(self._table, _item(schedule), _NEW)])

    def get(self, tenant: str, schedule_id: str) -> AuditSchedule | None:
        """See ScheduleStore."""
        if not is_id(schedule_id):
            return None
        return self._read(_key(tenant, schedule_id))

    def page(self, tenant: str, after: str | None, limit: int) -> Page[AuditSchedule]:
        """See ScheduleStore."""
        page = page_of(
            self._client, self._table, _partition(tenant), after, limit, newest_first=True
        )
        return Page(items=tuple(map(_schedule, page.items)), after=page.after)

    def replace(self, former: AuditSchedule, schedule: AuditSchedule) -> bool:
        """See ScheduleStore."""
        unchanged = dynamo.equals(version=former.version)
        return self._write([dynamo.put(self._table, _item(schedule), unchanged)])

    def remove(self, schedule: AuditSchedule) -> bool:
        """See ScheduleStore."""
        unchanged = dynamo.equals(version=schedule.version)
        key = _key(schedule.tenant, schedule.id)
        return self._write([dynamo.delete(self._table, key, unchanged)])

    def due(self, now: datetime, limit: int) -> list[AuditSchedule]:
        """See ScheduleStore: a query for each shard, then each row."""
        found: list[AuditSchedule] = []
        for number in range(limits.DUE_SHARDS):
            with translated("dynamodb"):
                answer = self._client.query(
                    TableName=self._table,
                    IndexName="due",
                    KeyConditionExpression="due_shard = :shard AND due_at <= :now",
                    ExpressionAttributeValues={
                        ":shard": f"{_SHARD}#{number}",
                        ":now": stamp(now),
                    },
                    Limit=max(1, limit // limits.DUE_SHARDS),
                )
            items: list[dict[str, Any]] = answer["Items"]
            rows = (self._read({"pk": each["pk"], "sk": each["sk"]}) for each in items)
            found += [row for row in rows if row is not None]
        return found

    def _read(self, key: dict[str, str]) -> AuditSchedule | None:
        with translated("dynamodb"):
            answer = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        item = answer.get("Item")
        return _schedule(item) if item else None

    def _write(self, writes: list[Any]) -> bool:
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed:
            return False
        return True


def _partition(tenant: str) -> str:
    return f"T#{tenant}#SCHEDULES"


def _key(tenant: str, schedule_id: str) -> dict[str, str]:
    return {"pk": _partition(tenant), "sk": schedule_id}


def _item(schedule: AuditSchedule) -> dict[str, Any]:
    item = {
        **_key(schedule.tenant, schedule.id),
        "tenant": schedule.tenant,
        "url": schedule.url,
        "recipe": schedule.recipe,
        "options": dict(schedule.options),
        "schedule_cron": schedule.schedule_cron,
        "timezone": schedule.timezone,
        "is_active": schedule.is_active,
        "created_at": stamp(schedule.created_at),
        "updated_at": stamp(schedule.updated_at),
        "next_run_at": optional_stamp(schedule.next_run_at),
        "last_run_at": optional_stamp(schedule.last_run_at),
        "last_audit_id": schedule.last_audit_id,
        "last_error": schedule.last_error,
        "version": schedule.version,
    }
    if schedule.next_run_at is not None:
        item["due_shard"] = due_shard(_SHARD, schedule.id)
        item["due_at"] = stamp(schedule.next_run_at)
    return {name: value for name, value in item.items() if value is not None}


def _schedule(item: Mapping[str, Any]) -> AuditSchedule:
    return AuditSchedule(
        tenant=item["tenant"],
        id=item["sk"],
        url=item["url"],
        recipe=item["recipe"],
        options={name: int(value) for name, value in item["options"].items()},
        schedule_cron=item["schedule_cron"],
        timezone=item["timezone"],
        # Rows of before 2026-11-22 call it `enabled`.
        is_active=bool(item["is_active"] if "is_active" in item else item["enabled"]),
        created_at=parse_stamp(item["created_at"]),
        updated_at=parse_stamp(item["updated_at"]),
        next_run_at=parse_optional_stamp(item.get("next_run_at")),
        last_run_at=parse_optional_stamp(item.get("last_run_at")),
        last_audit_id=item.get("last_audit_id"),
        last_error=item.get("last_error"),
        version=int(item["version"]),
    )

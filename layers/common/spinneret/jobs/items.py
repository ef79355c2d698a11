"""Conversion of jobs, events and replies to and from DynamoDB items.

Free-form values (payload, result, event data) are stored as JSON text, because DynamoDB would turn
their numbers into decimals.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any, Final

from pydantic import TypeAdapter

from spinneret.aws.codec import SPARSE, Codec, Column
from spinneret.aws.dynamo import Item
from spinneret.jobs import keys, limits, rules
from spinneret.jobs.models import (
    ChildCounts,
    Job,
    JobEvent,
    JobRef,
    JobStatus,
    Reply,
    RequestKey,
)
from spinneret.kernel import bounds
from spinneret.kernel.canonical import json_text
from spinneret.kernel.clock import epoch_seconds, to_iso


def _from_key(item: Item) -> Item:
    ref = keys.ref_of(item["pk"])
    return {
        "tenant": ref.tenant,
        "id": ref.job_id,
        "parent_shard": item.get("parent_shard", 0),  # rows without a parent lack it
        "idempotency_key": item.get("idempotency_key", item.get("duplicate_key")) or None,
    }


def _indexed(job: Job) -> Item:
    """Return the TTL, the keys of the job's indexes, and attributes that few rows have."""
    item: Item = {"list_key": keys.list_partition(job.tenant), "list_id": keys.list_id(job)}
    if job.idempotency_key != job.duplicate_key:  # most rows stay below 1 KB, the unit of a write
        item["idempotency_key"] = job.idempotency_key or ""
    if job.parent is not None:
        item["parent_shard"] = job.parent_shard
        item["parent_key"] = keys.children_partition(JobRef(tenant=job.tenant, job_id=job.parent))
        if job.status not in (JobStatus.PENDING, JobStatus.RUNNING):  # so that claims keep it
            item["list_status"] = job.status.value
    if rules.is_troubled(job):
        item["trouble_key"] = keys.trouble_partition(job.tenant)
    wake_at, resend_at = rules.wake_at(job), rules.resend_at(job)
    if wake_at is not None:
        item["wake_shard"] = keys.wake_partition(keys.wake_shard(job.id))
        item["wake_at"] = to_iso(wake_at)
    if resend_at is not None:
        shard = keys.resend_shard(job.id)
        item["resend_shard"] = keys.resend_partition(job.kind, job.priority, shard)
        item["resend_at"] = to_iso(resend_at)
    item["purge_at"] = purge_at(job)
    return item


_JSON: Final = Column(encode=json_text, decode=json.loads)  # JSON already, however large
_RECORD: Final = Column(encode=lambda value: json_text(asdict(value)), decode=json.loads)

JOBS: Final = Codec(
    Job,
    key=lambda job: keys.job_key(job.ref),
    keyed=("tenant", "id", "parent_shard", "idempotency_key"),
    from_key=_from_key,
    columns={
        "payload": _JSON,
        "result": _JSON,
        "last_error": _RECORD,
        "family": _RECORD,
        "ending": SPARSE,
        "rests_unchecked": SPARSE,
        "amendments": SPARSE,
        "redrives": SPARSE,
        "max_redrives": SPARSE,
        "worked_ms": SPARSE,
        "own_faults": SPARSE,
        "notify": SPARSE,
        "created_by": SPARSE,
    },
    derived=_indexed,
)

_EVENTS: Final = Codec(
    JobEvent,
    keyed=("fence", "number"),
    from_key=lambda item: dict(zip(("fence", "number"), _fence_and_number(item), strict=True)),
    columns={"data": _JSON},
)
_EVENT: Final = TypeAdapter(JobEvent)
_EVENT_FIELDS: Final = ("number", "kind", "message", "created_at", "progress", "data")
"""Order of an event's values in a row; an event without data lacks the last one."""


def _fence_and_number(item: Mapping[str, Any]) -> tuple[str, str]:
    fence, _, number = str(item["sk"]).removeprefix(keys.EVENT_PREFIX).partition("-")
    return fence, number


def event_items(ref: JobRef, events: Sequence[JobEvent]) -> list[Item]:
    """Return the rows of events that are written together, in order and of one fence.

    One row holds them all, up to EVENT_ROW_BYTES; its sort key is the id of its last event.
    """
    rows: list[Item] = []
    part: list[str] = []
    for event, following in zip_longest(events, events[1:]):
        part.append(_event_text(event))
        size = sum(len(text.encode()) for text in part)
        if following is None or size > limits.EVENT_ROW_BYTES:
            rows.append(
                {
                    "pk": keys.job_partition(ref),
                    "sk": f"{keys.EVENT_PREFIX}{event.id}",
                    "events": f"[{','.join(part)}]",
                    "purge_at": epoch_seconds(event.created_at) + limits.EVENT_RETENTION_SECONDS,
                }
            )
            part = []
    return rows


def events_from_item(item: Mapping[str, Any]) -> list[JobEvent]:
    """Convert a row of `event_items` back to events; earlier versions wrote a row for each."""
    if "events" not in item:
        return [_EVENTS.decode(item)]
    fence, _ = _fence_and_number(item)
    return [
        _EVENT.validate_python({"fence": fence, **dict(zip(_EVENT_FIELDS, each, strict=False))})
        for each in json.loads(item["events"])
    ]


def _event_text(event: JobEvent) -> str:
    created_at = to_iso(event.created_at)
    values = (event.number, event.kind, event.message, created_at, event.progress)
    return json_text([*values, event.data] if event.data else values)


def purge_at(job: Job) -> int | None:
    """Return when the job's row may be purged; None for a job that hasn't ended."""
    if job.finished_at is None:
        return None
    return epoch_seconds(job.finished_at) + bounds.JOB_RETENTION_SECONDS


def counters_purge_at(job: Job) -> int | None:
    """Return when a job's counters may be purged: after its row."""
    row = purge_at(job)
    return None if row is None else row + limits.OUTLIVES_ROW_SECONDS


def others_purge_at(job: Job) -> int | None:
    """Return when a job's plan and duplicate key may be purged: after its row.

    Until ROWS_SPARE_SECONDS after the job's creation, this is late enough for every end by then.
    Later, and while the job is paused, it is None until the job ends.
    """
    if job.status is JobStatus.PAUSED:
        return None
    moment = job.finished_at or max(job.updated_at, job.due_at)
    spare = timedelta(seconds=limits.ROWS_SPARE_SECONDS)
    if moment > job.created_at + spare:
        return counters_purge_at(job)
    kept = bounds.JOB_RETENTION_SECONDS + limits.OUTLIVES_ROW_SECONDS
    return epoch_seconds(job.created_at + spare) + kept


def others_live_longer(before: Job, after: Job) -> bool:
    """Return whether a transition changes the stored `others_purge_at`.

    Claims don't write it, though they move a job past the time from which it is None.
    """
    old, new = others_purge_at(before), others_purge_at(after)
    was_claimed = before.claimed_at is not None
    return old != new or (new is None and was_claimed and after.status is not JobStatus.PAUSED)


def duplicate_item(job: Job, key: str) -> Item:
    """Return the record of a duplicate key that the job holds."""
    item: Item = {"pk": keys.duplicate_record(job.tenant, key), "job_id": job.id}
    kept = others_purge_at(job)
    return item if kept is None else {**item, "purge_at": kept}


def counter_item(ref: JobRef, shard: int, counts: ChildCounts) -> Item:
    """Return one counter of a parent's children."""
    return {**keys.counter_key(ref, shard), **asdict(counts)}


def counts_from_item(item: Mapping[str, Any]) -> ChildCounts:
    """Convert a `counter_item` back to counts."""
    return ChildCounts(**{each.name: int(item[each.name]) for each in fields(ChildCounts)})


def request_item(key: RequestKey, reply: Reply, now: datetime) -> Item:
    """Return the record of an Idempotency-Key."""
    expires = now + timedelta(seconds=bounds.IDEMPOTENCY_SECONDS)
    return {
        "pk": keys.request_record(key.tenant, key.scope),
        "payload_hash": key.payload,
        "reply_status": reply.status,
        "reply_body": json_text(reply.body),
        "expires_at": to_iso(expires),
        "purge_at": epoch_seconds(expires),
    }

"""Conversion of jobs, events and replies to and from DynamoDB items.

Free-form values (payload, result, event data) are stored as JSON text, because DynamoDB would turn
their numbers into decimals.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.aws.codec import SPARSE, Codec, Column
from spinneret.aws.dynamo import Item
from spinneret.jobs import keys, limits, rules
from spinneret.jobs.models import ChildCounts, Job, JobEvent, JobRef, Reply, RequestKey
from spinneret.kernel import bounds
from spinneret.kernel.canonical import json_text
from spinneret.kernel.clock import epoch_seconds, to_iso


def _from_key(item: Item) -> Item:
    ref = keys.ref_of(item["pk"])
    return {
        "tenant": ref.tenant,
        "id": ref.job_id,
        "parent_shard": item.get("parent_shard", 0),  # rows without a parent lack it
    }


def _indexed(job: Job) -> Item:
    """Return the TTL and the keys of the indexes to which the job belongs."""
    item: Item = {"list_key": keys.list_partition(job.tenant), "list_id": job.id}
    if job.parent is not None:
        item["parent_shard"] = job.parent_shard
        item["parent_key"] = keys.children_partition(JobRef(tenant=job.tenant, job_id=job.parent))
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
    keyed=("tenant", "id", "parent_shard"),
    from_key=_from_key,
    columns={
        "payload": _JSON,
        "result": _JSON,
        "last_error": _RECORD,
        "family": _RECORD,
        "ending": SPARSE,
        "rests_unchecked": SPARSE,
        "amendments": SPARSE,
        "notify": SPARSE,
    },
    derived=_indexed,
)

_EVENTS: Final = Codec(
    JobEvent,
    key=lambda event: {"sk": f"{keys.EVENT_PREFIX}{event.id}"},
    keyed=("fence", "number"),
    from_key=lambda item: dict(
        zip(("fence", "number"), item["sk"].removeprefix(keys.EVENT_PREFIX).split("-"), strict=True)
    ),
    columns={"data": _JSON},
    derived=lambda event: {
        "purge_at": epoch_seconds(event.created_at) + limits.EVENT_RETENTION_SECONDS
    },
)


def event_item(ref: JobRef, event: JobEvent) -> Item:
    """Return one row of the timeline."""
    return {"pk": keys.job_partition(ref), **_EVENTS.encode(event)}


def event_from_item(item: Mapping[str, Any]) -> JobEvent:
    """Convert an `event_item` back to an event."""
    return _EVENTS.decode(item)


def purge_at(job: Job) -> int | None:
    """Return when the job's row may be purged; None for a job that hasn't ended."""
    if job.finished_at is None:
        return None
    return epoch_seconds(job.finished_at) + bounds.JOB_RETENTION_SECONDS


def others_purge_at(job: Job) -> int | None:
    """Return when a job's counters, plan and duplicate key may be purged: after its row."""
    row = purge_at(job)
    return None if row is None else row + limits.OUTLIVES_ROW_SECONDS


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

"""Conversion of jobs, events and replies to and from DynamoDB items.

Free-form values (payload, result, event data) are stored as JSON text, because DynamoDB would turn
their numbers into decimals.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from typing import Any

from spinneret.jobs import keys, limits, rules
from spinneret.jobs.models import (
    ChildCounts,
    Failure,
    Job,
    JobEvent,
    JobEventKind,
    JobRef,
    JobStatus,
    ParentState,
    Priority,
    Reply,
    RequestKey,
)
from spinneret.kernel import bounds
from spinneret.kernel.canonical import json_text
from spinneret.kernel.clock import (
    epoch_seconds,
    optional_stamp,
    parse_optional_stamp,
    parse_stamp,
    to_iso,
)

Item = dict[str, Any]


def job_item(job: Job) -> Item:
    """Return the job row, with keys of the indexes `wake` and `resend` while the job belongs in
    them.
    """
    item = {
        **keys.job_key(job.ref),
        "kind": job.kind,
        "status": job.status.value,
        "priority": job.priority.value,
        "payload": json_text(job.payload),
        "created_at": to_iso(job.created_at),
        "updated_at": to_iso(job.updated_at),
        "due_at": to_iso(job.due_at),
        "run": job.run,
        "fence": job.fence,
        "attempts": job.attempts,
        "max_attempts": job.max_attempts,
        "result_seconds": job.result_seconds,
        "redrives": job.redrives,
        "max_redrives": job.max_redrives,
        "worked_ms": job.worked_ms,
        "claimed_at": optional_stamp(job.claimed_at),
        "sends": job.sends,
        "resent_at": optional_stamp(job.resent_at),
        "own_faults": job.own_faults,
        "waiting_since": optional_stamp(job.waiting_since),
        "waiting_for": job.waiting_for,
        "deferred_since": optional_stamp(job.deferred_since),
        "expires_at": optional_stamp(job.expires_at),
        "ending": job.ending or None,
        "locked_by": job.locked_by,
        "locked_until": optional_stamp(job.locked_until),
        "started_at": optional_stamp(job.started_at),
        "finished_at": optional_stamp(job.finished_at),
        "progress": job.progress,
        "step": job.step,
        "result": None if job.result is None else json_text(job.result),
        "last_error": None if job.last_error is None else json_text(asdict(job.last_error)),
        "domain": job.domain,
        "batch": job.batch,
        "parent": job.parent,
        "parent_shard": None if job.parent is None else job.parent_shard,
        "family": None if job.family is None else json_text(asdict(job.family)),
        "duplicate_key": job.duplicate_key,
        "idempotency_key": job.idempotency_key,
        "watchers": job.watchers,
        "notify": list(job.notify) or None,
        "list_key": keys.list_partition(job.tenant),
        "list_id": job.id,
    }
    if job.parent is not None:
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
    if job.finished_at is not None:
        item["purge_at"] = epoch_seconds(
            job.finished_at + timedelta(seconds=bounds.JOB_RETENTION_SECONDS)
        )
    return {name: value for name, value in item.items() if value is not None}


def job_from_item(item: Mapping[str, Any]) -> Job:
    """Convert a `job_item` back to a job."""
    ref = keys.ref_of(item["pk"])
    last_error = _value(item.get("last_error"))
    family = _value(item.get("family"))
    return Job(
        tenant=ref.tenant,
        id=ref.job_id,
        kind=item["kind"],
        status=JobStatus(item["status"]),
        priority=Priority(item["priority"]),
        payload=_value(item["payload"]),
        created_at=parse_stamp(item["created_at"]),
        updated_at=parse_stamp(item["updated_at"]),
        due_at=parse_stamp(item["due_at"]),
        run=int(item["run"]),
        fence=int(item["fence"]),
        attempts=int(item["attempts"]),
        max_attempts=int(item["max_attempts"]),
        result_seconds=int(item["result_seconds"]),
        redrives=int(item["redrives"]),
        max_redrives=int(item["max_redrives"]),
        worked_ms=int(item["worked_ms"]),
        claimed_at=parse_optional_stamp(item.get("claimed_at")),
        sends=int(item["sends"]),
        resent_at=parse_optional_stamp(item.get("resent_at")),
        own_faults=int(item["own_faults"]),
        waiting_since=parse_optional_stamp(item.get("waiting_since")),
        waiting_for=item.get("waiting_for"),
        deferred_since=parse_optional_stamp(item.get("deferred_since")),
        expires_at=parse_optional_stamp(item.get("expires_at")),
        ending=item.get("ending", False),
        locked_by=item.get("locked_by"),
        locked_until=parse_optional_stamp(item.get("locked_until")),
        started_at=parse_optional_stamp(item.get("started_at")),
        finished_at=parse_optional_stamp(item.get("finished_at")),
        progress=int(item["progress"]),
        step=item.get("step"),
        result=_value(item.get("result")),
        last_error=None if last_error is None else Failure(**last_error),
        domain=item.get("domain"),
        batch=item.get("batch"),
        parent=item.get("parent"),
        parent_shard=int(item.get("parent_shard", 0)),
        family=None if family is None else ParentState(**family),
        duplicate_key=item.get("duplicate_key"),
        idempotency_key=item.get("idempotency_key"),
        watchers=int(item["watchers"]),
        notify=tuple(item.get("notify", ())),
    )


def event_item(ref: JobRef, event: JobEvent) -> Item:
    """Return one row of the timeline."""
    return {
        "pk": keys.job_partition(ref),
        "sk": f"{keys.EVENT_PREFIX}{event.id}",
        "kind": event.kind.value,
        "message": event.message,
        "created_at": to_iso(event.created_at),
        "progress": event.progress,
        "data": json_text(event.data),
        "purge_at": epoch_seconds(
            event.created_at + timedelta(seconds=limits.EVENT_RETENTION_SECONDS)
        ),
    }


def event_from_item(item: Mapping[str, Any]) -> JobEvent:
    """Convert an `event_item` back to an event."""
    fence, number = item["sk"].removeprefix(keys.EVENT_PREFIX).split("-")
    return JobEvent(
        fence=int(fence),
        number=int(number),
        kind=JobEventKind(item["kind"]),
        message=item["message"],
        created_at=parse_stamp(item["created_at"]),
        progress=int(item["progress"]),
        data=_value(item["data"]),
    )


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


def _value(text: str | None) -> Any:
    return None if text is None else json.loads(text)

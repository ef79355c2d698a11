"""Key builders of the jobs and idempotency tables; no adapter builds a key itself."""

import hashlib
import re
from typing import Final

from spinneret.jobs import limits
from spinneret.jobs.models import Connection, Job, JobRef, Priority
from spinneret.kernel.ids import uuid7_hex
from spinneret.kernel.sharding import shard_of

_EVENT_ID: Final = re.compile(r"[0-9]{8}-[0-9]{6}")

JOB_ROW = "JOB"
EVENT_PREFIX = "EVENT#"
SUBSCRIBER_PREFIX = "SUBSCRIBER#"
PLAN_PREFIX = "PLAN#"
COUNTER_ROW = "COUNTER"


def job_partition(ref: JobRef) -> str:
    """Return the partition of one job's row and events."""
    return f"T#{ref.tenant}#JOB#{ref.job_id}"


def job_key(ref: JobRef) -> dict[str, str]:
    """Return the primary key of the job row."""
    return {"pk": job_partition(ref), "sk": JOB_ROW}


def plan_key(ref: JobRef, number: int) -> dict[str, str]:
    """Return the primary key of one part of the plan of a parent's children."""
    return {"pk": job_partition(ref), "sk": f"{PLAN_PREFIX}{number:03d}"}


def counter_key(ref: JobRef, shard: int) -> dict[str, str]:
    """Return the primary key of one counter of a parent's children; each has its own partition,
    which spreads writes.
    """
    return {"pk": f"{job_partition(ref)}#CHILDREN#{shard}", "sk": COUNTER_ROW}


def children_partition(parent: JobRef) -> str:
    """Return the partition of a parent's children in the index `children`."""
    return f"{job_partition(parent)}#CHILDREN"


def is_event_id(text: str) -> bool:
    """Return whether the text has the form of `JobEvent.id`. Clients send these ids, which become
    keys.

    DynamoDB refuses keys over 1 KB, and ranges that end before they begin.
    """
    return _EVENT_ID.fullmatch(text) is not None


def subscriber_key(ref: JobRef, connection_id: str) -> dict[str, str]:
    """Return the primary key of a subscription to a job."""
    return {"pk": job_partition(ref), "sk": f"{SUBSCRIBER_PREFIX}{connection_id}"}


def connection_key(connection_id: str) -> dict[str, str]:
    """Return the primary key of a WebSocket connection."""
    return {"pk": f"CONN#{connection_id}", "sk": "CONN"}


def opened_partition(tenant: str, key_id: str) -> str:
    """Return the partition of a key's open connections."""
    return f"T#{tenant}#KEY#{key_id}#CONNS"


def opened_key(connection: Connection) -> dict[str, str]:
    """Return the primary key of a connection in its key's partition."""
    return {"pk": opened_partition(connection.tenant, connection.key_id), "sk": connection.id}


def ref_of(partition: str) -> JobRef:
    """Convert a `job_partition` back to a reference; tenants and ids contain no `#`."""
    _, tenant, _, job_id = partition.split("#")
    return JobRef(tenant=tenant, job_id=job_id)


def wake_shard(job_id: str) -> int:
    """Return the shard of the index `wake` for a job id."""
    return shard_of(job_id, limits.WAKE_SHARDS)


def wake_partition(shard: int) -> str:
    """Return the partition of one shard of the index `wake`."""
    return f"WAKE#{shard}"


def resend_shard(job_id: str) -> int:
    """Return the shard of the index `resend` for a job id."""
    return shard_of(job_id, limits.RESEND_SHARDS)


def resend_partition(kind: str, priority: Priority, shard: int) -> str:
    """Return the partition of one shard of the index `resend`: kind and priority determine the
    lane.
    """
    return f"RESEND#{kind}#{priority.value}#{shard}"


def hold_key(tenant: str) -> dict[str, str]:
    """Return the primary key of the row that holds a tenant's work."""
    return {"pk": f"T#{tenant}#HOLD", "sk": "HOLD"}


def list_partition(tenant: str) -> str:
    """Return the partition of a tenant's jobs in the index `listed`."""
    return f"T#{tenant}#JOBS"


def list_id(job: Job) -> str:
    """Return the sort key of a job in lists: its id, which begins with the time.

    Batches of publications are called `publish_…`: they are placed among the others by their time.
    """
    if job.id.startswith("job_"):
        return job.id
    return f"job_{uuid7_hex(job.created_at, bytes(10))[:12]}_{job.id}"


def trouble_partition(tenant: str) -> str:
    """Return the partition of a tenant's jobs in the sparse index `troubled`."""
    return f"T#{tenant}#TROUBLED"


def request_record(tenant: str, scope: str) -> str:
    """Return the primary key of an Idempotency-Key's record."""
    return f"T#{tenant}#REQUEST#{scope}"


def duplicate_record(tenant: str, fingerprint: str) -> str:
    """Return the primary key of an implicit key's record."""
    return f"T#{tenant}#SAME#{fingerprint}"


def effect_record(tenant: str, key: str) -> str:
    """Return the primary key of a side effect's record; keys are hashed, because they may be any
    text.
    """
    return f"T#{tenant}#EFFECT#{hashlib.sha256(key.encode()).hexdigest()}"

"""Key builders of the jobs and idempotency tables, so that no adapter spells a key by hand."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from spinneret.jobs.models import Connection, JobRef, Priority
from spinneret.kernel import bounds
from spinneret.kernel.sharding import shard_of

_EVENT_ID: Final = re.compile(r"[0-9]{8}-[0-9]{6}")

JOB_ROW = "JOB"
EVENT_PREFIX = "EVENT#"
SUBSCRIBER_PREFIX = "SUBSCRIBER#"
PLAN_PREFIX = "PLAN#"
COUNTER_ROW = "COUNTER"


def job_partition(ref: JobRef) -> str:
    """Partition of one job's row and events."""
    return f"T#{ref.tenant}#JOB#{ref.job_id}"


def job_key(ref: JobRef) -> dict[str, str]:
    """Primary key of the job row."""
    return {"pk": job_partition(ref), "sk": JOB_ROW}


def plan_key(ref: JobRef, number: int) -> dict[str, str]:
    """Primary key of one part of the plan of a parent's children."""
    return {"pk": job_partition(ref), "sk": f"{PLAN_PREFIX}{number:03d}"}


def counter_key(ref: JobRef, shard: int) -> dict[str, str]:
    """Primary key of one counter of a parent's children; partitions of their own spread writes."""
    return {"pk": f"{job_partition(ref)}#CHILDREN#{shard}", "sk": COUNTER_ROW}


def children_partition(parent: JobRef) -> str:
    """Partition of a parent's children in the index `children`."""
    return f"{job_partition(parent)}#CHILDREN"


def is_event_id(text: str) -> bool:
    """Whether this can be the id of an event (`JobEvent.id`): clients send them, and they are keys.

    DynamoDB refuses keys of over 1 KB, and ranges that end before they begin.
    """
    return _EVENT_ID.fullmatch(text) is not None


def subscriber_key(ref: JobRef, connection_id: str) -> dict[str, str]:
    """Primary key of a subscription to a job."""
    return {"pk": job_partition(ref), "sk": f"{SUBSCRIBER_PREFIX}{connection_id}"}


def connection_key(connection_id: str) -> dict[str, str]:
    """Primary key of a WebSocket connection."""
    return {"pk": f"CONN#{connection_id}", "sk": "CONN"}


def opened_partition(tenant: str, key_id: str) -> str:
    """Partition of the connections that a key has open."""
    return f"T#{tenant}#KEY#{key_id}#CONNS"


def opened_key(connection: Connection) -> dict[str, str]:
    """Primary key of a connection among those of its key."""
    return {"pk": opened_partition(connection.tenant, connection.key_id), "sk": connection.id}


def ref_of(partition: str) -> JobRef:
    """The inverse of `job_partition`; tenants and ids hold no `#`."""
    _, tenant, _, job_id = partition.split("#")
    return JobRef(tenant=tenant, job_id=job_id)


def wake_shard(job_id: str) -> int:
    """The shard of the index `wake` that an id falls into."""
    return shard_of(job_id, bounds.WAKE_SHARDS)


def wake_partition(shard: int) -> str:
    """Partition of one shard of the index `wake`."""
    return f"WAKE#{shard}"


def resend_shard(job_id: str) -> int:
    """The shard of the index `resend` that an id falls into."""
    return shard_of(job_id, bounds.RESEND_SHARDS)


def resend_partition(kind: str, priority: Priority, shard: int) -> str:
    """Partition of one shard of the index `resend`: kind and priority make the lane."""
    return f"RESEND#{kind}#{priority.value}#{shard}"


def list_partition(tenant: str) -> str:
    """Partition of a tenant's jobs in the index `listed`."""
    return f"T#{tenant}#JOBS"


def trouble_partition(tenant: str) -> str:
    """Partition of a tenant's jobs in the sparse index `troubled`."""
    return f"T#{tenant}#TROUBLED"


def request_record(tenant: str, scope: str) -> str:
    """Primary key of an Idempotency-Key's record."""
    return f"T#{tenant}#REQUEST#{scope}"


def duplicate_record(tenant: str, fingerprint: str) -> str:
    """Primary key of an implicit key's record."""
    return f"T#{tenant}#SAME#{fingerprint}"


def effect_record(tenant: str, key: str) -> str:
    """Primary key of a side effect's record; a key may be anything, so it is hashed."""
    return f"T#{tenant}#EFFECT#{hashlib.sha256(key.encode()).hexdigest()}"

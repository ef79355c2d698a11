"""Writes of a submission: jobs, first events, duplicate keys and the stored reply."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from spinneret.aws import dynamo
from spinneret.jobs import dynamo_conditions as conditions
from spinneret.jobs import dynamo_families, items, keys
from spinneret.jobs.bodies import check_payload
from spinneret.jobs.models import Job, JobEvent, Reply, RequestKey
from spinneret.jobs.ports import Holder, NewJob
from spinneret.kernel import bounds
from spinneret.kernel.clock import epoch_seconds

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


def writes(
    jobs_table: str,
    idempotency_table: str,
    jobs: Sequence[NewJob],
    events: Sequence[JobEvent],
    request: RequestKey | None,
    reply: Reply | None,
    now: datetime,
) -> list[TransactWriteItemTypeDef]:
    """See JobStore.submit. Raises ValidationFailed."""
    found: list[TransactWriteItemTypeDef] = []
    if request is not None and reply is not None:
        record = items.request_item(request, reply, now)
        found.append(dynamo.put(idempotency_table, record, conditions.unless_alive(now)))
    for new, event in zip(jobs, events, strict=True):
        job = new.job
        check_payload(job.payload)
        found.append(dynamo.put(jobs_table, items.JOBS.encode(job), conditions.NEW))
        found.append(dynamo.put(jobs_table, items.event_item(job.ref, event)))
        found += dynamo_families.parent_writes(jobs_table, new)
        if job.duplicate_key is not None:
            record = duplicate_record(job, job.duplicate_key, now)
            found += take_duplicate_key(jobs_table, idempotency_table, new.replaces, record)
    return found


def duplicate_record(job: Job, key: str, now: datetime) -> dict[str, Any]:
    """Return the record of a duplicate key that the job holds."""
    return {
        "pk": keys.duplicate_record(job.tenant, key),
        "job_id": job.id,
        "purge_at": epoch_seconds(now + timedelta(seconds=bounds.JOB_RETENTION_SECONDS)),
    }


def take_duplicate_key(
    jobs_table: str,
    idempotency_table: str,
    holder: Holder | None,
    record: dict[str, Any],
    *,
    unless: Job | None = None,
) -> list[TransactWriteItemTypeDef]:
    """Return at most two writes: the record, and a check that the former holder is still finished.

    No check is needed if the holder is `unless`: the same transaction writes its row.
    """
    if holder is None:
        return [dynamo.put(idempotency_table, record, conditions.NEW)]
    found = [dynamo.put(idempotency_table, record, dynamo.equals(job_id=holder.job_id))]
    if holder.job is not None and (unless is None or holder.job_id != unless.id):
        unmoved = conditions.unmoved(holder.job)
        found.append(dynamo.check(jobs_table, keys.job_key(holder.job.ref), unmoved))
    return found

"""Writes of a submission: jobs, first events, duplicate keys and the stored reply."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from spinneret.aws import dynamo
from spinneret.aws.types import TransactWriteItemTypeDef
from spinneret.jobs import dynamo_conditions as conditions
from spinneret.jobs import dynamo_families, items, keys, rules
from spinneret.jobs.bodies import check_payload
from spinneret.jobs.models import Job, JobEvent, Reply, RequestKey
from spinneret.jobs.ports import Holder, NewJob


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
        found.append(dynamo.put(jobs_table, items.JOBS.encode(job), dynamo.ABSENT))
        if event != rules.first_event(job):  # which the job's row implies
            found += [dynamo.put(jobs_table, row) for row in items.event_items(job.ref, [event])]
        found += dynamo_families.parent_writes(jobs_table, new)
        if job.duplicate_key is not None:
            record = items.duplicate_item(job, job.duplicate_key)
            found += take_duplicate_key(jobs_table, idempotency_table, new.replaces, record)
    return found


def key_lifetime_writes(
    idempotency_table: str, before: Job, after: Job
) -> list[TransactWriteItemTypeDef]:
    """Build the write after which the record of a job's duplicate key outlives its row, if needed.

    A job that hasn't ended holds its key, so the write needs no condition that could refuse an end.
    """
    key = after.duplicate_key
    if key is None or not items.others_live_longer(before, after):
        return []
    return [dynamo.put(idempotency_table, items.duplicate_item(after, key))]


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
        return [dynamo.put(idempotency_table, record, dynamo.ABSENT)]
    found = [dynamo.put(idempotency_table, record, dynamo.equals(job_id=holder.job_id))]
    if holder.job is not None and (unless is None or holder.job_id != unless.id):
        unmoved = conditions.unmoved(holder.job)
        found.append(dynamo.check(jobs_table, keys.job_key(holder.job.ref), unmoved))
    return found

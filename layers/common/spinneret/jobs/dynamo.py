"""The job store on DynamoDB.

Jobs table
    pk `T#<tenant>#JOB#<id>`, sk `JOB`            the job row
    pk `T#<tenant>#JOB#<id>`, sk `EVENT#<id>`     its timeline; query by prefix, order of event ids
    index `listed`: pk `list_key` (`T#<tenant>#JOBS`), sk `list_id`, with kind, status, domain: a
    tenant's jobs by id, which is by time. The rows themselves are then read by key.
    index `troubled`: pk `trouble_key` (`T#<tenant>#TROUBLED`), sk `list_id`, sparse: those that
    failed or wait for a redrive.
    index `due`: pk `sweep_shard` (`DUE#0` … `DUE#7`), sk `sweep_at`, keys only, sparse: the row
    carries both only while something may have to be done about it. Query: sweep_at <= now.

Idempotency table
    pk `T#<tenant>#REQUEST#<scope>`   an Idempotency-Key: payload fingerprint and stored reply
    pk `T#<tenant>#SAME#<hash>`       an implicit key: the job that does this work

`purge_at` (epoch seconds) is DynamoDB's TTL attribute in both: garbage collection, never a
condition.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from spinneret.adapters import dynamo
from spinneret.adapters.aws import error_code, translated
from spinneret.jobs import items, keys
from spinneret.jobs.models import (
    Event,
    Job,
    JobFilter,
    JobPage,
    JobRef,
    JobStatus,
    Lease,
    Reply,
    RequestKey,
    StoredReply,
)
from spinneret.jobs.ports import Claimed, NewJob, Refused, SubmissionRaced
from spinneret.kernel import limits
from spinneret.kernel.clock import stamp
from spinneret.kernel.errors import LeaseLost

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import QueryInputTypeDef, TransactWriteItemTypeDef

_CLAIM = (
    "SET #status = :running, #fence = #fence + :one, #locked_by = :owner,"
    " #locked_until = :until, #sweep_at = :until, #claimed_at = :now,"
    " #started_at = if_not_exists(#started_at, :now)"
    " REMOVE #trouble_key"
)
_CLAIMABLE = "attribute_exists(#pk) AND #status = :pending AND #due_at <= :now"
_NEW: dynamo.Condition = ("attribute_not_exists(#pk)", {})


def lease_check(table: str, lease: Lease) -> TransactWriteItemTypeDef:
    """The condition that another domain's write carries: the claim still stands."""
    ref = JobRef(tenant=lease.tenant, job_id=lease.job_id)
    return dynamo.check(
        table,
        keys.job_key(ref),
        dynamo.equals(status=JobStatus.RUNNING, fence=lease.fence, locked_by=lease.owner),
    )


class DynamoJobStore:
    """Implements JobStore; see the module's docstring for the key design."""

    def __init__(self, client: DynamoDBClient, jobs_table: str, idempotency_table: str) -> None:
        self._client = client
        self._jobs = jobs_table
        self._idempotency = idempotency_table

    def get(self, ref: JobRef) -> Job | None:
        """See JobStore."""
        if not keys.is_job_id(ref.job_id):
            return None
        with translated("dynamodb"):
            answer = self._client.get_item(
                TableName=self._jobs, Key=keys.job_key(ref), ConsistentRead=True
            )
        item = answer.get("Item")
        return items.job_from_item(item) if item else None

    def find_reply(self, key: RequestKey, now: datetime) -> StoredReply | None:
        """See JobStore."""
        found = self._idempotency_records([keys.request_record(key.tenant, key.scope)])
        if not found or found[0]["expires_at"] <= stamp(now):
            return None
        [item] = found
        reply = Reply(status=int(item["reply_status"]), body=json.loads(item["reply_body"]))
        return StoredReply(payload=item["payload_hash"], reply=reply)

    def find_duplicates(self, tenant: str, keys_: Sequence[str]) -> dict[str, str]:
        """See JobStore."""
        by_record = {keys.duplicate_record(tenant, key): key for key in keys_}
        found = self._idempotency_records(list(by_record))
        return {by_record[item["pk"]]: item["job_id"] for item in found}

    def submit(
        self,
        jobs: Sequence[NewJob],
        events: Sequence[Event],
        request: RequestKey | None,
        reply: Reply,
        now: datetime,
    ) -> None:
        """See JobStore. At most 33 jobs: three rows each in a transaction of 100."""
        writes: list[TransactWriteItemTypeDef] = []
        if request is not None:
            record = items.request_item(request, reply, now)
            writes.append(dynamo.put(self._idempotency, record, _unless_alive(now)))
        for new, event in zip(jobs, events, strict=True):
            job = new.job
            writes.append(dynamo.put(self._jobs, items.job_item(job), _NEW))
            writes.append(dynamo.put(self._jobs, items.event_item(job.ref, event)))
            if job.duplicate_key is not None:
                writes.append(self._take_duplicate_key(new, job.duplicate_key, now))
        if not writes:
            return
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            raise SubmissionRaced from failed

    def claim(self, ref: JobRef, owner: str, now: datetime, until: datetime) -> Claimed | Refused:
        """See JobStore: one UpdateItem."""
        try:
            with translated("dynamodb"):
                answer = self._client.update_item(
                    TableName=self._jobs,
                    Key=keys.job_key(ref),
                    UpdateExpression=_CLAIM,
                    ConditionExpression=_CLAIMABLE,
                    ExpressionAttributeNames=dynamo.names_in(f"{_CLAIM} {_CLAIMABLE}"),
                    ExpressionAttributeValues={
                        ":running": JobStatus.RUNNING,
                        ":pending": JobStatus.PENDING,
                        ":one": 1,
                        ":owner": owner,
                        ":until": stamp(until),
                        ":now": stamp(now),
                    },
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except ClientError as error:
            if error_code(error) != "ConditionalCheckFailedException":
                raise
            return self._refused(error, owner)
        return _claimed(items.job_from_item(answer["Attributes"]), owner)

    def transition(self, before: Job, after: Job, events: Sequence[Event] = ()) -> None:
        """See JobStore. One transaction; its client token makes a repeated call harmless."""
        old, new = items.job_item(before), items.job_item(after)
        changes = {
            name: new.get(name)
            for name in sorted(old.keys() | new.keys())
            if old.get(name) != new.get(name)
        }
        standing = dynamo.equals(
            **{name: old.get(name) for name in ("status", "fence", "locked_by", "locked_until")}
        )
        key = keys.job_key(before.ref)
        writes = [
            dynamo.update(self._jobs, key, changes, standing)
            if changes
            else dynamo.check(self._jobs, key, standing)
        ]
        writes += [dynamo.put(self._jobs, items.event_item(before.ref, event)) for event in events]
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            raise LeaseLost(f"job {before.id} has moved on") from failed

    def due(self, shard: int, now: datetime, limit: int) -> list[JobRef]:
        """See JobStore."""
        with translated("dynamodb"):
            answer = self._client.query(
                TableName=self._jobs,
                IndexName="due",
                KeyConditionExpression="sweep_shard = :shard AND sweep_at <= :now",
                ExpressionAttributeValues={
                    ":shard": keys.sweep_partition(shard),
                    ":now": stamp(now),
                },
                Limit=limit,
            )
        return [keys.ref_of(str(item["pk"])) for item in answer["Items"]]

    def page(self, tenant: str, wanted: JobFilter, after: str | None, limit: int) -> JobPage:
        """See JobStore. At most LIST_READS queries of LIST_READ index rows each."""
        found: list[str] = []
        last = after
        for _ in range(limits.LIST_READS):
            rows, last = self._listed(tenant, wanted, last)
            found += rows
            if len(found) > limit or last is None:
                break
        if len(found) > limit:
            last = found[limit - 1]
        ids = found[:limit]
        refs = [JobRef(tenant=tenant, job_id=each) for each in ids]
        rows_ = dynamo.batch_get(self._client, self._jobs, [keys.job_key(ref) for ref in refs])
        jobs = sorted(map(items.job_from_item, rows_), key=lambda job: job.id, reverse=True)
        return JobPage(jobs=tuple(jobs), after=last)

    def events(self, ref: JobRef, after: str | None, limit: int) -> list[Event]:
        """See JobStore."""
        first = f"{keys.EVENT_PREFIX}{after}" if after else keys.EVENT_PREFIX
        with translated("dynamodb"):
            answer = self._client.query(
                TableName=self._jobs,
                KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
                ExpressionAttributeValues={
                    ":pk": keys.job_partition(ref),
                    ":first": first,
                    ":last": f"{keys.EVENT_PREFIX}~",
                },
                ConsistentRead=True,
                Limit=limit + 1,
            )
        rows: list[dict[str, Any]] = answer["Items"]
        found = [items.event_from_item(row) for row in rows if row["sk"] != first]
        return found[:limit]

    def _listed(
        self, tenant: str, wanted: JobFilter, after: str | None
    ) -> tuple[list[str], str | None]:
        """Matching ids of one read, and the id to go on after."""
        index, key, partition = (
            ("troubled", "trouble_key", keys.trouble_partition(tenant))
            if wanted.troubled
            else ("listed", "list_key", keys.list_partition(tenant))
        )
        condition, values = f"#{key} = :partition", {":partition": partition}
        if after is not None:
            condition += " AND #list_id < :after"
            values[":after"] = after
        given = {"kind": wanted.kind, "status": wanted.status, "domain": wanted.domain}
        terms = {name: value for name, value in given.items() if value is not None}
        query: QueryInputTypeDef = {
            "TableName": self._jobs,
            "IndexName": index,
            "KeyConditionExpression": condition,
            "ScanIndexForward": False,
            "Limit": limits.LIST_READ,
        }
        if terms:
            query["FilterExpression"] = " AND ".join(f"#{name} = :{name}" for name in terms)
        spelled = f"{condition} {query.get('FilterExpression', '')}"
        query["ExpressionAttributeNames"] = dynamo.names_in(spelled)
        query["ExpressionAttributeValues"] = {**values, **{f":{n}": v for n, v in terms.items()}}
        with translated("dynamodb"):
            answer = self._client.query(**query)
        last = answer.get("LastEvaluatedKey")
        position = str(last["list_id"]) if last else None
        return [str(row["list_id"]) for row in answer["Items"]], position

    def _take_duplicate_key(self, new: NewJob, key: str, now: datetime) -> TransactWriteItemTypeDef:
        job = new.job
        record = {
            "pk": keys.duplicate_record(job.tenant, key),
            "job_id": job.id,
            "purge_at": items.epoch(now + timedelta(seconds=limits.JOB_RETENTION_SECONDS)),
        }
        free = _NEW if new.replaces is None else dynamo.equals(job_id=new.replaces)
        return dynamo.put(self._idempotency, record, free)

    def _idempotency_records(self, partitions: list[str]) -> list[dict[str, Any]]:
        return dynamo.batch_get(self._client, self._idempotency, [{"pk": pk} for pk in partitions])

    def _refused(self, error: ClientError, owner: str) -> Claimed | Refused:
        item = items.plain(error.response.get("Item"))
        if not item:
            return Refused(job=None)
        job = items.job_from_item(item)
        if job.status is JobStatus.RUNNING and job.locked_by == owner:
            return _claimed(job, owner)
        return Refused(job=job)


def _claimed(job: Job, owner: str) -> Claimed:
    lease = Lease(tenant=job.tenant, job_id=job.id, fence=job.fence, owner=owner)
    return Claimed(job=job, lease=lease)


def _unless_alive(now: datetime) -> dynamo.Condition:
    return "attribute_not_exists(#pk) OR #expires_at <= :now", {":now": stamp(now)}

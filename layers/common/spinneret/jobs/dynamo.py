"""The job store on DynamoDB.

Jobs table
    pk `T#<tenant>#JOB#<id>`, sk `JOB`            the job row
    pk `T#<tenant>#JOB#<id>`, sk `EVENT#<id>`     its timeline: the events of one write, under the
    id of the last; query by prefix
    index `listed`: pk `list_key` (`T#<tenant>#JOBS`), sk `list_id`, with kind, status, domain and
    batch: a tenant's jobs by time, see `keys.list_id`. The rows themselves are then read by key.
    index `troubled`: pk `trouble_key` (`T#<tenant>#TROUBLED`), sk `list_id`, sparse: failed jobs,
    and jobs that wait for a redrive.
    index `wake`: pk `wake_shard` (`WAKE#0` … `WAKE#7`), sk `wake_at`, keys only, sparse: rows on
    which the sweeper must act at a time (see rules.wake_at). Query: wake_at <= now.
    index `resend`: pk `resend_shard` (`RESEND#<kind>#<priority>#0` … `#3`), sk `resend_at`, keys
    only, sparse: pending rows whose message may be lost from then on. Query: resend_at <= a time;
    kind and priority determine the lane, so that a lane with a backlog isn't read.
    index `children`: pk `parent_key` (`T#<tenant>#JOB#<parent>#CHILDREN`), sk `list_id`, sparse,
    with `list_status`, the status of a child that is neither pending nor running: a parent's
    children by id
    pk `T#<tenant>#JOB#<id>`, sk `PLAN#<number>`           plan from which children are created
    pk `T#<tenant>#JOB#<id>#CHILDREN#<shard>`, sk `COUNTER`   how a parent's children ended
    (holds of tenants' work: see dynamo_holds.py)

Idempotency table
    pk `T#<tenant>#REQUEST#<scope>`   an Idempotency-Key: payload fingerprint and stored reply
    pk `T#<tenant>#SAME#<hash>`       an implicit key: the job that does this work
    (side effects: see effects/dynamo.py)

Events table (see outbox/dynamo.py): the event of a reported end, written with the row.

`purge_at` (epoch seconds) is DynamoDB's TTL attribute in both: garbage collection, never a
condition.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from spinneret.aws import dynamo, reads
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.jobs import dynamo_conditions as conditions
from spinneret.jobs import (
    dynamo_due,
    dynamo_families,
    dynamo_lists,
    dynamo_submissions,
    items,
    keys,
    rules,
)
from spinneret.jobs.bodies import check_payload
from spinneret.jobs.dynamo_due import RESEND, WAKE
from spinneret.jobs.dynamo_holds import DynamoHolds
from spinneret.jobs.ends import end_event
from spinneret.jobs.kinds import Kinds, all_kinds
from spinneret.jobs.models import (
    ChildCounts,
    Job,
    JobEvent,
    JobFilter,
    JobRef,
    JobStatus,
    Lease,
    Reply,
    RequestKey,
    StoredReply,
)
from spinneret.jobs.ports import (
    Claimed,
    DuePage,
    DuePosition,
    Holder,
    NewJob,
    Refused,
    Reopening,
    ResendShard,
    SubmissionRaced,
)
from spinneret.kernel.clock import Clock, to_iso
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.outbox.dynamo import event_write

_CLAIM = (
    "SET #status = :running, #fence = #fence + :one, #locked_by = :owner,"
    " #locked_until = :until, #wake_at = :until, #wake_shard = :shard, #claimed_at = :now,"
    " #updated_at = :now,"
    " #started_at = if_not_exists(#started_at, :now)"
    " REMOVE #trouble_key, #expires_at, #resend_shard, #resend_at"
)
_CLAIMABLE = (
    "#status = :pending AND #due_at <= :now"
    " AND (attribute_not_exists(#expires_at) OR #expires_at > :now)"
)
_SUBSCRIPTION_RACES = 5  # subscriptions that may change while one write of a claim is tried


def lease_check(table: str, lease: Lease) -> TransactWriteItemTypeDef:
    """Return the condition check for another domain's write: the claim still holds the job."""
    ref = JobRef(tenant=lease.tenant, job_id=lease.job_id)
    return dynamo.check(
        table,
        keys.job_key(ref),
        conditions.claimed(lease),
    )


def lease_lost(lease: Lease) -> LeaseLost:
    """Return the error of a write whose `lease_check` failed."""
    return LeaseLost(f"job {lease.job_id} is no longer held by this claim")


def transact_under_lease(
    client: DynamoDBClient,
    jobs_table: str,
    lease: Lease,
    writes: Sequence[TransactWriteItemTypeDef],
) -> None:
    """Write all while the claim holds the job; the writes have no conditions of their own.

    Raises LeaseLost and DependencyUnavailable.
    """
    try:
        dynamo.transact(client, [lease_check(jobs_table, lease), *writes])
    except dynamo.ConditionFailed as failed:
        raise lease_lost(lease) from failed


class DynamoJobStore:
    """Implements JobStore; see the module's docstring for the key design."""

    def __init__(
        self,
        client: DynamoDBClient,
        jobs_table: str,
        idempotency_table: str,
        events_table: str | None = None,
        kinds: Kinds | None = None,
        *,
        clock: Clock,
    ) -> None:
        """Set the tables. Without an events table, refuse ends that are reported; `kinds` defaults
        to all.
        """
        self._client = client
        self._clock = clock
        self._jobs = jobs_table
        self._idempotency = idempotency_table
        self._events = events_table
        self._kinds = all_kinds() if kinds is None else kinds
        self.held_since = DynamoHolds(client, jobs_table, clock).since

    def get(self, ref: JobRef) -> Job | None:
        if not is_id(ref.job_id):
            return None
        item = dynamo.get(self._client, self._jobs, keys.job_key(ref))
        return items.JOBS.decode(item) if item else None

    def find_reply(self, key: RequestKey, now: datetime) -> StoredReply | None:
        found = self._idempotency_records([keys.request_record(key.tenant, key.scope)])
        if not found or found[0]["expires_at"] <= to_iso(now):
            return None
        [item] = found
        reply = Reply(status=int(item["reply_status"]), body=json.loads(item["reply_body"]))
        return StoredReply(payload=item["payload_hash"], reply=reply)

    def find_duplicates(self, tenant: str, keys_: Sequence[str]) -> dict[str, str]:
        by_record = {keys.duplicate_record(tenant, key): key for key in keys_}
        found = self._idempotency_records(list(by_record))
        return {by_record[item["pk"]]: item["job_id"] for item in found}

    def submit(
        self,
        jobs: Sequence[NewJob],
        events: Sequence[JobEvent],
        request: RequestKey | None,
        reply: Reply,
        now: datetime,
    ) -> None:
        """See JobStore. Accepts at most 24 jobs: four rows each in a transaction of 100."""
        rules.check_not_ahead(events, self._clock())
        writes = dynamo_submissions.writes(
            self._jobs, self._idempotency, jobs, events, request, reply, now
        )
        if not writes:
            return
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            raise SubmissionRaced from failed

    def claim(
        self,
        ref: JobRef,
        owner: str,
        now: datetime,
        until: datetime,
        kinds: Collection[str] | None = None,
    ) -> Claimed | Refused:
        """See JobStore. One UpdateItem."""
        among = {f":kind_{number}": kind for number, kind in enumerate(kinds or ())}
        condition = _CLAIMABLE
        if kinds is not None:
            condition += f" AND #kind IN ({', '.join(among)})"
        values = {
            ":running": JobStatus.RUNNING,
            ":pending": JobStatus.PENDING,
            ":one": 1,
            ":owner": owner,
            ":until": to_iso(until),
            ":shard": keys.wake_partition(keys.wake_shard(ref.job_id)),
            ":now": to_iso(now),
            **among,
        }
        claimed = dynamo.update_or_standing(
            self._client, self._jobs, keys.job_key(ref), _CLAIM, values, condition
        )
        if isinstance(claimed, dynamo.Standing):
            return _refused(claimed.item, owner)
        return _claimed(items.JOBS.decode(claimed), owner)

    def amend(self, job: Job, payload: Mapping[str, Any]) -> None:
        check_payload(payload)
        after = replace(job, payload=payload, amendments=job.amendments + 1)
        try:
            dynamo.transact(self._client, self._moved(job, after, (), conditions.amendable(job)))
        except dynamo.ConditionFailed as failed:
            raise SubmissionRaced from failed

    def transition(
        self,
        before: Job,
        after: Job,
        events: Sequence[JobEvent] = (),
        *,
        lease: Lease | None = None,
        counted: Sequence[ChildCounts] = (),
        parent: Job | None = None,
    ) -> int:
        """See JobStore. One transaction; its client token makes a repeated call harmless.

        Under a lease, `watchers` is in the condition only to learn its value. If nothing else has
        changed, the write is retried with the stored number.
        """
        rules.check_not_ahead(events, self._clock())
        watchers, is_orphan = before.watchers, False
        for _ in range(_SUBSCRIPTION_RACES):
            standing = (
                conditions.claim_stands(lease, before, after, watchers)
                if lease
                else conditions.row_stands(before)
            )
            try:
                writes = self._moved(before, after, events, standing)
                writes += dynamo_families.lifetime_writes(self._jobs, before, after, counted)
                writes += dynamo_submissions.key_lifetime_writes(self._idempotency, before, after)
                if not is_orphan:
                    writes += dynamo_families.count(self._jobs, before, after)
                if parent is not None:
                    writes.append(self._unmoved(parent))
                dynamo.transact(self._client, writes)
            except dynamo.ConditionFailed as failed:
                if 0 not in failed.standing:
                    if parent is not None and len(writes) - 1 in failed.standing:
                        raise SubmissionRaced from failed
                    if not is_orphan and self._is_orphan(before):
                        is_orphan = True
                        continue
                row = failed.standing.get(0, {})
                if lease is not None and conditions.is_held(row, lease):
                    conditions.require_unamended(row, before, after)
                    watchers = int(row["watchers"])
                    continue
                if lease is None or not conditions.is_ended(row, lease, after):
                    raise LeaseLost(f"job {before.id} is no longer held by this claim") from failed
                watchers = int(row["watchers"])
            return watchers
        raise DependencyUnavailable("dynamodb", "too many subscriptions at once")

    def begin_run(
        self,
        before: Job,
        after: Job,
        event: JobEvent,
        holder: Holder | None,
        parent: Reopening | Job | None = None,
    ) -> None:
        moved = [parent.event] if isinstance(parent, Reopening) else []
        rules.check_not_ahead([event, *moved], self._clock())
        writes = self._moved(before, after, [event], conditions.row_stands(before))
        writes += dynamo_families.lifetime_writes(self._jobs, before, after)
        if before.duplicate_key is not None:
            record = items.duplicate_item(after, before.duplicate_key)
            writes += dynamo_submissions.take_duplicate_key(
                self._jobs, self._idempotency, holder, record, unless=before
            )
        match parent:
            case Reopening(before=ended, after=reopened):
                standing = conditions.row_stands(ended)
                writes += self._moved(ended, reopened, [parent.event], standing)
                writes += dynamo_families.count(self._jobs, before, after, revives=True)
                writes += dynamo_families.lifetime_writes(
                    self._jobs, ended, reopened, counter_written=before.parent_shard
                )
                writes += dynamo_submissions.key_lifetime_writes(self._idempotency, ended, reopened)
            case Job():
                writes += dynamo_families.count(self._jobs, before, after)
                writes.append(self._unmoved(parent))
            case None if not self._is_orphan(before):
                writes += dynamo_families.count(self._jobs, before, after)
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            raise SubmissionRaced from failed

    def add_children(
        self,
        before: Job,
        after: Job,
        children: Sequence[NewJob],
        events: Sequence[JobEvent],
        *,
        lease: Lease,
    ) -> None:
        rules.check_not_ahead(events, self._clock())
        writes = self._moved(before, after, (), conditions.claimed(lease))
        writes += dynamo_families.child_count_writes(self._jobs, [new.job for new in children])
        writes += dynamo_submissions.writes(
            self._jobs, self._idempotency, children, events, None, None, before.created_at
        )
        try:
            dynamo.transact(self._client, writes, dynamo_families.BIRTH_TRIES)
        except dynamo.ConditionFailed as failed:
            if 0 in failed.standing:
                raise LeaseLost(f"job {before.id} is no longer held by this claim") from failed
            raise SubmissionRaced from failed

    def plan(self, parent: JobRef, number: int) -> str | None:
        return dynamo_families.plan(self._client, self._jobs, parent, number)

    def child_counts(self, parent: JobRef, shards: Sequence[int]) -> list[ChildCounts]:
        return dynamo_families.child_counts(self._client, self._jobs, parent, shards)

    def children(
        self, parent: JobRef, statuses: Sequence[JobStatus], after: str | None, limit: int
    ) -> Page[JobRef]:
        return dynamo_families.children(self._client, self._jobs, parent, statuses, after, limit)

    def to_wake(
        self, shard: int, until: datetime, limit: int, after: DuePosition | None = None
    ) -> DuePage:
        partition = keys.wake_partition(shard)
        return dynamo_due.page(self._client, self._jobs, WAKE, partition, until, limit, after)

    def to_resend(
        self,
        resend: ResendShard,
        until: datetime,
        limit: int,
        after: DuePosition | None = None,
    ) -> DuePage:
        partition = keys.resend_partition(resend.kind, resend.priority, resend.shard)
        return dynamo_due.page(self._client, self._jobs, RESEND, partition, until, limit, after)

    def page(self, tenant: str, wanted: JobFilter, after: str | None, limit: int) -> Page[Job]:
        return dynamo_lists.page(self._client, self._jobs, tenant, wanted, after, limit)

    def events(self, ref: JobRef, after: str | None, limit: int) -> list[JobEvent]:
        first = f"{keys.EVENT_PREFIX}{after}" if after else keys.EVENT_PREFIX
        condition = "pk = :pk AND sk BETWEEN :first AND :last"
        partition, end = keys.job_partition(ref), f"{keys.EVENT_PREFIX}~"
        values = {":pk": partition, ":first": first, ":last": end}
        rows = reads.query(
            self._client, self._jobs, condition, values, limit + 1, ConsistentRead=True
        )
        last, found = after or "", list[JobEvent]()
        for row in rows:
            # A write whose answer was lost may be repeated in a row that has more events.
            found += [event for event in items.events_from_item(row) if event.id > last]
            if len(found) >= limit:
                break
            last = found[-1].id if found else last
        if after is None and (not found or found[0].id != rules.FIRST_EVENT_ID):
            job = self.get(ref)  # whose row implies its first event
            found = found if job is None else [rules.first_event(job), *found]
        return found[:limit]

    def _moved(
        self, before: Job, after: Job, events: Sequence[JobEvent], standing: dynamo.Condition
    ) -> list[TransactWriteItemTypeDef]:
        """Return the writes of a transition; the first one is the row's."""
        old, new = items.JOBS.encode(before), items.JOBS.encode(after)
        changes = {
            name: new.get(name)
            for name in sorted(old.keys() | new.keys())
            if old.get(name) != new.get(name)
        }
        key = keys.job_key(before.ref)
        row = (
            dynamo.update(self._jobs, key, changes, standing)
            if changes
            else dynamo.check(self._jobs, key, standing)
        )
        return [
            row,
            *(dynamo.put(self._jobs, row) for row in items.event_items(before.ref, events)),
            *self._end_event(before, after),
        ]

    def _end_event(self, before: Job, after: Job) -> list[TransactWriteItemTypeDef]:
        """Return the write of the domain event at the end of a run, if there is one."""
        event = end_event(before, after, self._kinds)
        if event is None:
            return []
        if self._events is None:
            raise RuntimeError(f"no table for {event.type}")  # an error is better than a lost event
        return [event_write(self._events, event)]

    def _unmoved(self, job: Job) -> TransactWriteItemTypeDef:
        return dynamo.check(self._jobs, keys.job_key(job.ref), conditions.unmoved(job))

    def _is_orphan(self, job: Job) -> bool:
        """Return whether the job has a parent whose row is gone."""
        if job.parent is None:
            return False
        return self.get(JobRef(tenant=job.tenant, job_id=job.parent)) is None

    def _idempotency_records(self, partitions: list[str]) -> list[dict[str, Any]]:
        return dynamo.batch_get(self._client, self._idempotency, [{"pk": pk} for pk in partitions])


def _refused(item: dynamo.Item, owner: str) -> Claimed | Refused:
    if not item:
        return Refused(job=None)
    job = items.JOBS.decode(item)
    if job.status is JobStatus.RUNNING and job.locked_by == owner:
        return _claimed(job, owner)
    return Refused(job=job)


def _claimed(job: Job, owner: str) -> Claimed:
    lease = Lease(tenant=job.tenant, job_id=job.id, fence=job.fence, owner=owner)
    return Claimed(job=job, lease=lease)

"""The job store and the job queue in memory."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from spinneret.jobs import keys, limits, rules
from spinneret.jobs.bodies import check_payload
from spinneret.jobs.ends import end_event
from spinneret.jobs.kinds import Kinds, all_kinds
from spinneret.jobs.models import (
    Backlog,
    ChildCounts,
    DeadLetter,
    Job,
    JobEvent,
    JobFilter,
    JobRef,
    JobStatus,
    Lane,
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
    JobAmended,
    NewJob,
    Refused,
    Reopening,
    ResendShard,
    SubmissionRaced,
)
from spinneret.kernel import bounds
from spinneret.kernel.canonical import json_text
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    LeaseLost,
)
from spinneret.kernel.paging import Page
from tests.fakes.dependency import FakeDependency
from tests.fakes.outbox import FakeOutboxStore
from tests.fakes.time import late

_NO_PAGE = DuePage(refs=(), after=None)


class DueIndex:
    """The sparse indexes `wake` and `resend`: the jobs of each partition, with their times."""

    def __init__(self) -> None:
        self._partitions: defaultdict[str, dict[JobRef, datetime]] = defaultdict(dict)
        self._places: dict[JobRef, dict[str, datetime]] = {}

    def page(
        self, partition: str, until: datetime, limit: int, after: DuePosition | None
    ) -> DuePage:
        """Return a page in the order of a DynamoDB query: by time, then by id."""
        rows = self._partitions.get(partition)
        if not rows:  # nearly always: a pass queries some hundred partitions
            return _NO_PAGE
        due = ((moment, ref.job_id, ref) for ref, moment in rows.items() if moment <= until)
        places = sorted(due)
        if after is not None:
            last = (after[0], after[1].job_id)
            places = [place for place in places if place[:2] > last]
        page = [(moment, ref) for moment, _, ref in places[:limit]]
        refs = tuple(ref for _, ref in page)
        return DuePage(refs=refs, after=page[-1] if len(page) == limit else None)

    def put(self, ref: JobRef, job: Job | None) -> None:
        """Update the indexes after a write of the job's row; None stands for its deletion."""
        for partition in self._places.pop(ref, {}):
            del self._partitions[partition][ref]
        places = _places(job) if job is not None else {}
        for partition, moment in places.items():
            self._partitions[partition][ref] = moment
        if places:
            self._places[ref] = places


def _places(job: Job) -> dict[str, datetime]:
    wake_at, resend_at = rules.wake_at(job), rules.resend_at(job)
    places = {}
    if wake_at is not None:
        places[keys.wake_partition(keys.wake_shard(job.id))] = wake_at
    if resend_at is not None:
        shard = keys.resend_shard(job.id)
        places[keys.resend_partition(job.kind, job.priority, shard)] = resend_at
    return places


@dataclass(frozen=True)
class StoredRow:
    """A row that TTL removes: a `job`, its `plan` or `counters`, or the `key` of a duplicate."""

    kind: str
    ref: JobRef
    key: str = ""


class _Rows(dict[JobRef, Job]):
    """Jobs by reference; every write also updates the indexes."""

    def __init__(self, store: FakeJobStore) -> None:
        super().__init__()
        self._store = store

    def __setitem__(self, ref: JobRef, job: Job) -> None:
        super().__setitem__(ref, job)
        self._store.index.put(ref, job)


class FakeJobStore:
    """Implements JobStore under one lock; free-form values pass through JSON as in the real one."""

    def __init__(self, kinds: Kinds | None = None, clock: Clock = late) -> None:
        self.kinds = all_kinds() if kinds is None else kinds
        self._clock = clock
        self.outbox = FakeOutboxStore()
        """Events of ended runs; each one is stored in the same write as its job."""
        self._lock = Lock()
        self._jobs = _Rows(self)
        self.index = DueIndex()
        self._events: dict[JobRef, dict[str, JobEvent]] = {}
        self._replies: dict[tuple[str, str], tuple[StoredReply, datetime]] = {}
        self._holders: dict[tuple[str, str], str] = {}
        self._plans: dict[JobRef, tuple[str, ...]] = {}
        self._counters: dict[JobRef, list[ChildCounts]] = {}
        self._purge_at: dict[StoredRow, datetime] = {}
        self.kept = timedelta(seconds=bounds.JOB_RETENTION_SECONDS)
        self.others_kept = self.kept + timedelta(seconds=limits.OUTLIVES_ROW_SECONDS)
        """Retention of a job's other rows after its end; `kept` is that of its own row."""
        self.held: dict[str, datetime] = {}
        """Start of the hold of each tenant whose work is on hold."""

    def get(self, ref: JobRef) -> Job | None:
        with self._lock:
            return self._jobs.get(ref)

    def find_reply(self, key: RequestKey, now: datetime) -> StoredReply | None:
        with self._lock:
            stored, expires = self._replies.get((key.tenant, key.scope), (None, now))
            return stored if expires > now else None

    def find_duplicates(self, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        with self._lock:
            held = {key: self._holders.get((tenant, key)) for key in keys}
            return {key: job_id for key, job_id in held.items() if job_id is not None}

    def submit(
        self,
        jobs: Sequence[NewJob],
        events: Sequence[JobEvent],
        request: RequestKey | None,
        reply: Reply,
        now: datetime,
    ) -> None:
        for new in jobs:
            check_payload(new.job.payload)
        rules.check_not_ahead(events, self._clock())
        with self._lock:
            if any(not self._free(new) for new in jobs) or self._alive(request, now):
                raise SubmissionRaced
            self._put_new(jobs, events)
            if request is not None:
                stored = StoredReply(
                    payload=request.payload, reply=replace(reply, body=through_json(reply.body))
                )
                expires = now + timedelta(seconds=bounds.IDEMPOTENCY_SECONDS)
                self._replies[request.tenant, request.scope] = (stored, expires)

    def claim(
        self,
        ref: JobRef,
        owner: str,
        now: datetime,
        until: datetime,
        kinds: Collection[str] | None = None,
    ) -> Claimed | Refused:
        with self._lock:
            job = self._jobs.get(ref)
            if job is None:
                return Refused(job=None)
            in_time = job.expires_at is None or job.expires_at > now
            is_known = kinds is None or job.kind in kinds
            if job.status is JobStatus.PENDING and job.due_at <= now and in_time and is_known:
                job = self._jobs[ref] = replace(
                    job,
                    status=JobStatus.RUNNING,
                    fence=job.fence + 1,
                    locked_by=owner,
                    locked_until=until,
                    claimed_at=now,
                    updated_at=now,
                    started_at=job.started_at or now,
                    expires_at=None,
                )
            elif job.status is not JobStatus.RUNNING or job.locked_by != owner:
                return Refused(job=job)
            lease = Lease(tenant=ref.tenant, job_id=ref.job_id, fence=job.fence, owner=owner)
            return Claimed(job=job, lease=lease)

    def held_since(self, tenant: str) -> datetime | None:
        return self.held.get(tenant)

    def amend(self, job: Job, payload: Mapping[str, Any]) -> None:
        check_payload(payload)
        with self._lock:
            stored = self._jobs.get(job.ref)
            if stored is None or _amended(stored) != _amended(job):
                raise SubmissionRaced
            changed = replace(stored, payload=payload, amendments=stored.amendments + 1)
            self._jobs[job.ref] = _as_stored(changed)

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
        rules.check_not_ahead(events, self._clock())
        with self._lock:
            stands = self._held(lease) if lease else self._stands(before)
            if counted and self._counters[before.ref] != list(counted):
                stands = False
            if stands and parent is not None and not self._is_unmoved(parent):
                raise SubmissionRaced
            if stands:
                completes = after.status in (JobStatus.COMPLETED, JobStatus.PARTIALLY_FAILED)
                stored = self._jobs[before.ref]
                if lease and completes and stored.amendments != before.amendments:
                    raise JobAmended
                self._move(before, after, events)
            elif lease is None or not self._is_ended(lease, after):
                raise LeaseLost(f"job {before.id} is no longer held by this claim")
            return self._jobs[before.ref].watchers

    def begin_run(
        self,
        before: Job,
        after: Job,
        event: JobEvent,
        holder: Holder | None,
        parent: Reopening | Job | None = None,
    ) -> None:
        key = before.tenant, before.duplicate_key or ""
        moved = [parent.event] if isinstance(parent, Reopening) else []
        rules.check_not_ahead([event, *moved], self._clock())
        with self._lock:
            keyless = before.duplicate_key is None
            if not self._stands(before) or not (keyless or self._is_held(key, holder)):
                raise SubmissionRaced
            if isinstance(parent, Reopening) and not self._stands(parent.before):
                raise SubmissionRaced
            if isinstance(parent, Job) and not self._is_unmoved(parent):
                raise SubmissionRaced
            self._move(before, after, [event])
            if isinstance(parent, Reopening):
                self._move(parent.before, parent.after, [parent.event])
            if before.duplicate_key is not None:
                self._hold(before, before.duplicate_key)

    def add_children(
        self,
        before: Job,
        after: Job,
        children: Sequence[NewJob],
        events: Sequence[JobEvent],
        *,
        lease: Lease,
    ) -> None:
        for new in children:
            check_payload(new.job.payload)
        rules.check_not_ahead(events, self._clock())
        with self._lock:
            if not self._held(lease):
                raise LeaseLost(f"job {before.id} is no longer held by this claim")
            if any(not self._free(new) for new in children):
                raise SubmissionRaced
            self._move(before, after, ())
            self._put_new(children, events)
            for new in children:
                self._count(new.job, "created", 1)

    def plan(self, parent: JobRef, number: int) -> str | None:
        with self._lock:
            texts = self._plans.get(parent, ())
            return texts[number] if number < len(texts) else None

    def child_counts(self, parent: JobRef, shards: Sequence[int]) -> list[ChildCounts]:
        with self._lock:
            return [self._counters[parent][shard] for shard in shards]

    def children(
        self, parent: JobRef, statuses: Sequence[JobStatus], after: str | None, limit: int
    ) -> Page[JobRef]:
        with self._lock:
            ids = sorted(
                ref.job_id
                for ref, job in self._jobs.items()
                if (ref.tenant, job.parent) == (parent.tenant, parent.job_id)
                and ref.job_id > (after or "")
            )
            page = ids[:limit]
            refs = (JobRef(tenant=parent.tenant, job_id=each) for each in page)
            chosen = tuple(ref for ref in refs if self._jobs[ref].status in statuses)
            return Page(items=chosen, after=page[-1] if len(ids) > limit else None)

    def to_wake(
        self, shard: int, until: datetime, limit: int, after: DuePosition | None = None
    ) -> DuePage:
        return self.index.page(keys.wake_partition(shard), until, limit, after)

    def to_resend(
        self,
        resend: ResendShard,
        until: datetime,
        limit: int,
        after: DuePosition | None = None,
    ) -> DuePage:
        partition = keys.resend_partition(resend.kind, resend.priority, resend.shard)
        return self.index.page(partition, until, limit, after)

    def page(self, tenant: str, wanted: JobFilter, after: str | None, limit: int) -> Page[Job]:
        with self._lock:
            jobs = [job for ref, job in self._jobs.items() if ref.tenant == tenant]
        found = [
            job
            for job in sorted(jobs, key=keys.list_id, reverse=True)
            if (after is None or keys.list_id(job) < after)
            and wanted.kind in (None, job.kind)
            and wanted.status in (None, job.status)
            and wanted.domain in (None, job.domain)
            and wanted.batch in (None, job.batch)
            and (not wanted.troubled or rules.is_troubled(job))
        ]
        page = found[:limit]
        return Page(items=tuple(page), after=keys.list_id(page[-1]) if len(found) > limit else None)

    def stored_kinds(self) -> set[str]:
        """Return the kinds of all jobs."""
        with self._lock:
            return {job.kind for job in self._jobs.values()}

    def events(self, ref: JobRef, after: str | None, limit: int) -> list[JobEvent]:
        with self._lock:
            timeline = self._events.get(ref, {})
            return [timeline[key] for key in sorted(timeline) if key > (after or "")][:limit]

    def holds(self, lease: Lease) -> bool:
        """Return whether a claim is still valid, as writes of other domains ask."""
        with self._lock:
            return self._held(lease)

    def purge(self, now: datetime) -> None:
        """Remove all rows past their time, as TTL eventually does."""
        for row in self.purgeable(now):
            self.remove(row)

    def purgeable(self, now: datetime) -> dict[StoredRow, datetime]:
        """Return the rows past their time, with that time."""
        with self._lock:
            return {row: moment for row, moment in self._purge_at.items() if moment <= now}

    def remove(self, row: StoredRow) -> None:
        """Remove one row, as TTL does."""
        with self._lock:
            del self._purge_at[row]
            match row.kind:
                case "job":
                    dict.__delitem__(self._jobs, row.ref)
                    self.index.put(row.ref, None)
                case "plan":
                    del self._plans[row.ref]
                case "counters":
                    del self._counters[row.ref]
                case "key":
                    del self._holders[row.ref.tenant, row.key]

    def _keep(self, job: Job) -> None:
        """Set the time from which TTL may remove the job's rows; a job without an end has none."""
        names = ["job", *(("plan", "counters") if job.family is not None else ())]
        rows = [StoredRow(kind, job.ref) for kind in names]
        if job.duplicate_key is not None:
            rows.append(StoredRow("key", job.ref, job.duplicate_key))
        for row in rows:
            if job.finished_at is None:
                self._purge_at.pop(row, None)
            else:
                kept = self.kept if row.kind == "job" else self.others_kept
                self._purge_at[row] = job.finished_at + kept

    def _hold(self, job: Job, key: str) -> None:
        """Give the duplicate key to the job; the record of the former holder no longer exists."""
        former = self._holders.get((job.tenant, key))
        if former is not None and former != job.id:
            ref = JobRef(tenant=job.tenant, job_id=former)
            self._purge_at.pop(StoredRow("key", ref, key), None)
        self._holders[job.tenant, key] = job.id

    def subscribe(self, ref: JobRef, change: int) -> None:
        """Change the job's number of watchers, as a live subscription does."""
        with self._lock:
            job = self._jobs[ref]
            self._jobs[ref] = replace(job, watchers=job.watchers + change)

    def _held(self, lease: Lease) -> bool:
        job = self._jobs.get(JobRef(tenant=lease.tenant, job_id=lease.job_id))
        return job is not None and (job.status, job.fence, job.locked_by) == (
            JobStatus.RUNNING,
            lease.fence,
            lease.owner,
        )

    def _is_ended(self, lease: Lease, after: Job) -> bool:
        job = self._jobs.get(after.ref)
        ended = job is not None and job.status is not JobStatus.RUNNING
        return ended and job.fence == lease.fence and _ended_as(job) == _ended_as(after)

    def _stands(self, before: Job) -> bool:
        job = self._jobs.get(before.ref)
        return job is not None and _standing(job) == _standing(before)

    def _is_unmoved(self, before: Job) -> bool:
        job = self._jobs.get(before.ref)
        return job is not None and _ended(job) == _ended(before)

    def _move(self, before: Job, after: Job, events: Sequence[JobEvent]) -> None:
        changes = _changes(_as_stored(before), _as_stored(after))
        events = [replace(event, data=through_json(event.data)) for event in events]
        self._jobs[before.ref] = replace(self._jobs[before.ref], **changes)
        self._add_events(before.ref, events)
        if before.finished_at != after.finished_at:
            if after.duplicate_key is not None:
                self._hold(after, after.duplicate_key)
            self._keep(after)
        end = end_event(before, after, self.kinds)
        if end is not None:
            self.outbox.write(end)
        if (ended := rules.counted(before, after)) is not None:
            self._count(before, ended, 1)
        if (left := rules.uncounted(before, after)) is not None:
            self._count(before, left, -1)

    def _count(self, child: Job, name: str, change: int) -> None:
        assert child.parent is not None  # only children are counted
        parent = JobRef(tenant=child.tenant, job_id=child.parent)
        if parent not in self._jobs:
            return  # the parent no longer exists
        counters = self._counters[parent]
        counts = counters[child.parent_shard]
        counters[child.parent_shard] = replace(counts, **{name: getattr(counts, name) + change})

    def _put_new(self, jobs: Sequence[NewJob], events: Sequence[JobEvent]) -> None:
        for new, event in zip(jobs, events, strict=True):
            job = _as_stored(new.job)
            first = replace(event, data=through_json(event.data))
            self._jobs[job.ref] = job
            self._add_events(job.ref, [first])
            if job.duplicate_key is not None:
                self._hold(job, job.duplicate_key)
            if job.family is not None:
                self._plans[job.ref] = tuple(new.plan)
                self._counters[job.ref] = [ChildCounts()] * job.family.shards

    def _free(self, new: NewJob) -> bool:
        job, holder = new.job, new.replaces
        if job.ref in self._jobs:
            return False
        if job.duplicate_key is None:
            return True
        return self._is_held((job.tenant, job.duplicate_key), holder)

    def _is_held(self, key: tuple[str, str], holder: Holder | None) -> bool:
        """Return whether `holder` has the key and hasn't moved; for None, whether no job has it."""
        held = self._holders.get(key)
        if holder is None:
            return held is None
        ended = holder.job is None or self._is_unmoved(holder.job)
        return held == holder.job_id and ended

    def _alive(self, request: RequestKey | None, now: datetime) -> bool:
        if request is None:
            return False
        _, expires = self._replies.get((request.tenant, request.scope), (None, now))
        return expires > now

    def _add_events(self, ref: JobRef, events: Sequence[JobEvent]) -> None:
        for event in events:
            self._events.setdefault(ref, {})[event.id] = event


def _amended(job: Job) -> tuple[JobStatus, int]:
    return job.status, job.amendments


def no_parent(job: Job) -> None:
    """Raise AssertionError: a sweeper found a parent in a test without parents."""
    raise AssertionError(f"{job.id} is no parent")


@dataclass(frozen=True)
class Sent:
    """A message that was sent."""

    lane: Lane
    ref: JobRef
    delay: int


class FakeJobQueue(FakeDependency):
    """Implements JobQueue; keeps the messages that were sent."""

    dependency = "sqs"

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.backlogs: dict[Lane, int] = {}
        """Number of messages that wait in each lane, not counting `sent`."""
        self.in_flight: dict[Lane, int] = {}

    def send(self, lane: Lane, refs: Sequence[JobRef], delay_seconds: int = 0) -> None:
        self._require()
        if not 0 <= delay_seconds <= bounds.SQS_MAX_DELAY_SECONDS:
            raise ValueError(f"SQS can't delay by {delay_seconds} s")
        self.sent += [Sent(lane, ref, delay_seconds) for ref in refs]

    def backlog(self, lane: Lane) -> Backlog:
        self._require()
        visible = sum(sent.lane == lane and not sent.delay for sent in self.sent)
        waiting = visible + self.backlogs.get(lane, 0)
        return Backlog(waiting=waiting, in_flight=self.in_flight.get(lane, 0))

    def take(self) -> list[Sent]:
        """Remove and return the messages that were sent since the last call."""
        taken, self.sent = self.sent, []
        return taken


class FakeDeadLetterQueues:
    """Implements DeadLetterQueues; a letter that was only received stays hidden forever."""

    def __init__(self, dead: Mapping[Lane, Sequence[DeadLetter]]) -> None:
        self.dead = {lane: list(letters) for lane, letters in dead.items()}
        self.sent_back: list[tuple[Lane, DeadLetter]] = []
        self.aside: list[tuple[Lane, DeadLetter]] = []

    def count(self, lane: Lane) -> int:
        hidden = [letter for where, letter in self.aside if where == lane]
        return len(self.dead.get(lane, [])) + len(hidden)

    def receive(self, lane: Lane, limit: int) -> list[DeadLetter]:
        letters, share = self.dead.get(lane, []), min(limit, 10)
        taken, letters[:] = letters[:share], letters[share:]
        return taken

    def send_back(self, lane: Lane, letter: DeadLetter) -> None:
        self.sent_back.append((lane, letter))

    def set_aside(self, lane: Lane, letter: DeadLetter) -> None:
        self.aside.append((lane, letter))


def _standing(job: Job) -> tuple[object, ...]:
    claim = job.status, job.fence, job.locked_by, job.locked_until
    return *claim, job.sends, job.watchers, job.progress


def _ended_as(job: Job) -> tuple[object, ...]:
    return job.status, job.fence, job.locked_by, job.attempts, job.due_at, job.finished_at


def _ended(job: Job) -> tuple[object, ...]:
    return job.status, job.fence


def _changes(before: Job, after: Job) -> dict[str, Any]:
    pairs = ((f.name, getattr(before, f.name), getattr(after, f.name)) for f in fields(Job))
    return {name: new for name, old, new in pairs if new != old}


def _as_stored(job: Job) -> Job:
    failure = job.last_error
    return replace(
        job,
        payload=through_json(job.payload),
        result=through_json(job.result),
        last_error=failure and replace(failure, details=through_json(failure.details)),
    )


def through_json(value: Any) -> Any:
    return json.loads(json_text(value))

"""Ports of the job kernel: stores, queues and sockets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from spinneret.jobs.models import (
    Backlog,
    ChildCounts,
    Connection,
    DeadLetter,
    Job,
    JobEvent,
    JobFilter,
    JobRef,
    JobStatus,
    Lane,
    Lease,
    Priority,
    Reply,
    RequestKey,
    StoredReply,
    Subscriber,
)
from spinneret.kernel.paging import Page


@dataclass(frozen=True, kw_only=True)
class Holder:
    """The job that holds a duplicate key; `job` is None when its row is gone."""

    job_id: str
    job: Job | None


@dataclass(frozen=True, kw_only=True)
class NewJob:
    """A job row to be written, and the finished holder whose duplicate key it takes over."""

    job: Job
    replaces: Holder | None = None
    plan: Sequence[str] = field(default=(), repr=False)
    """Of a parent: texts of at most PLAN_ROW_BYTES from which its children are made."""


@dataclass(frozen=True, kw_only=True)
class Reopening:
    """What happens to a finished parent as one of its children begins again."""

    before: Job
    after: Job
    event: JobEvent


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """The claim succeeded; the job as it stands now."""

    job: Job
    lease: Lease


@dataclass(frozen=True, kw_only=True)
class Refused:
    """The claim failed; the job as it stands, None when there is no such job."""

    job: Job | None


class SubmissionRaced(Exception):
    """A key was taken or released between look-up and write; look up again."""


Listener = Callable[[Job, Sequence[JobEvent]], None]
"""Called by a `PublishingJobStore` after every transition that has events, with the job as it now
is and these events; never raises."""

DuePosition = tuple[datetime, JobRef]
"""A position in the index `wake` or `resend`: time and job."""


@dataclass(frozen=True)
class ResendShard:
    """A partition of the index `resend`: kind and priority name a lane."""

    kind: str
    priority: Priority
    shard: int


@dataclass(frozen=True, kw_only=True)
class DuePage:
    """Jobs whose time has come, oldest first; no `after` on the last page."""

    refs: tuple[JobRef, ...]
    after: DuePosition | None


class JobStore(Protocol):
    """Job rows, their events and their idempotency records.

    All methods raise DependencyUnavailable when the store doesn't answer. Every write is one
    conditional, atomic operation.
    """

    def get(self, ref: JobRef) -> Job | None:
        """Read one job, consistently."""
        ...

    def find_reply(self, key: RequestKey, now: datetime) -> StoredReply | None:
        """The reply to an earlier request under this key, unless it has expired."""
        ...

    def find_duplicates(self, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """Duplicate key → id of the job that holds it, for those that are held."""
        ...

    def submit(
        self,
        jobs: Sequence[NewJob],
        events: Sequence[JobEvent],
        request: RequestKey | None,
        reply: Reply,
        now: datetime,
    ) -> None:
        """Write jobs, first events, duplicate keys and the reply in one transaction.

        `events` go with `jobs` one to one. Raises ValidationFailed for a payload that isn't JSON or
        is over JOB_PAYLOAD_BYTES, and SubmissionRaced when a key was taken meanwhile,
        or a holder that is to be replaced was retried.
        """
        ...

    def claim(self, ref: JobRef, owner: str, now: datetime, until: datetime) -> Claimed | Refused:
        """Take a pending job that is due: running, fence + 1, locked until `until`.

        A claim whose answer was lost is recognised by its `owner` and counts as claimed.
        """
        ...

    def transition(
        self,
        before: Job,
        after: Job,
        events: Sequence[JobEvent] = (),
        *,
        lease: Lease | None = None,
        counted: Sequence[ChildCounts] = (),
    ) -> int:
        """Write what changed from `before` to `after`, and the events; returns `watchers`.

        The domain event of an end (`ends.end_event`) is written in the same operation.

        With a lease, the condition is that the claim still holds the job; the end of a claim that
        is written again because its answer was lost counts as written. Without one, the row must
        equal `before` in status, fence, owner, end of the lease, messages sent and watchers. Raises
        LeaseLost otherwise.

        The end of a child's run is counted with its parent in the same operation. `counted` are a
        parent's counters, shard by shard, which must still stand.
        """
        ...

    def begin_run(
        self,
        before: Job,
        after: Job,
        event: JobEvent,
        holder: Holder | None,
        parent: Reopening | None = None,
    ) -> None:
        """A transition into the next run; takes the job's duplicate key from `holder`.

        A child leaves its parent's counter; `parent` is the parent's own move, if it was finished.

        Raises SubmissionRaced when the row, the key's holder or that job's status and fence aren't
        what the caller read: a holder that was retried meanwhile does the same work.
        """
        ...

    def add_children(
        self,
        before: Job,
        after: Job,
        children: Sequence[NewJob],
        events: Sequence[JobEvent],
        *,
        lease: Lease,
    ) -> None:
        """Write at most CHILDREN_PER_WRITE children, count them, and move their claimed parent on.

        Raises LeaseLost when the claim has ended, and SubmissionRaced as `submit`; a write that is
        repeated because its answer was lost raises LeaseLost, too: the parent's cursor has moved.
        """
        ...

    def plan(self, parent: JobRef, number: int) -> str | None:
        """One text of a parent's plan; None after the last one."""
        ...

    def child_counts(self, parent: JobRef, shards: Sequence[int]) -> list[ChildCounts]:
        """The counters of these shards, read consistently."""
        ...

    def children(
        self, parent: JobRef, statuses: Sequence[JobStatus], after: str | None, limit: int
    ) -> Page[JobRef]:
        """A parent's children in one of these states; eventually consistent."""
        ...

    def to_wake(
        self, shard: int, until: datetime, limit: int, after: DuePosition | None = None
    ) -> DuePage:
        """Jobs of a shard whose `rules.wake_at` is `until` or before, oldest first.

        Eventually consistent: a page may name jobs that have moved on, and not yet name others.
        """
        ...

    def to_resend(
        self,
        resend: ResendShard,
        until: datetime,
        limit: int,
        after: DuePosition | None = None,
    ) -> DuePage:
        """Pending jobs whose `rules.resend_at` is `until` or before; else as `to_wake`."""
        ...

    def page(self, tenant: str, wanted: JobFilter, after: str | None, limit: int) -> Page[Job]:
        """A tenant's jobs, newest first, after the id `after`.

        Reads a bounded number of index rows: a page may hold fewer than `limit` jobs, or none,
        and still have a next page.
        """
        ...

    def events(self, ref: JobRef, after: str | None, limit: int) -> list[JobEvent]:
        """A job's timeline after the event id `after`, in order."""
        ...


@dataclass(frozen=True, kw_only=True)
class EffectStarted:
    """No claim has begun this effect before."""


@dataclass(frozen=True, kw_only=True)
class EffectUncertain:
    """An earlier claim began it and has ended; it may have happened."""


@dataclass(frozen=True, kw_only=True)
class EffectDone:
    """It happened, with this result."""

    result: Mapping[str, Any]


class EffectStore(Protocol):
    """Records of side effects, by tenant and key. Raises DependencyUnavailable."""

    def begin(
        self, lease: Lease, key: str, request: str, now: datetime, until: datetime
    ) -> EffectStarted | EffectUncertain | EffectDone:
        """Record that this claim is about to perform an effect, in a call that ends by `until`.

        Raises LeaseLost, IdempotencyMismatch for another request under the key, and Contended
        while the call of another claim may still run, or while the claim of another job that began
        it still holds that job; `retry_after` is the time until then.
        """
        ...

    def finish(self, lease: Lease, key: str, result: Mapping[str, Any], now: datetime) -> None:
        """Record its result. Raises LeaseLost when another claim has begun the effect since."""
        ...


class JobQueue(Protocol):
    """Sends messages that name a due job; their loss or duplication does no harm."""

    def send(self, lane: Lane, refs: Sequence[JobRef], delay_seconds: int = 0) -> None:
        """Raises DependencyUnavailable; delay is 0 to 900 s."""
        ...

    def backlog(self, lane: Lane) -> Backlog:
        """What the lane holds. Raises DependencyUnavailable."""
        ...


class DeadLetterQueues(Protocol):
    """The dead-letter queues of the lanes. All methods raise DependencyUnavailable."""

    def receive(self, lane: Lane, limit: int) -> list[DeadLetter]:
        """Up to `limit` letters (at most 10), hidden from others for a minute."""
        ...

    def send_back(self, lane: Lane, letter: DeadLetter) -> None:
        """Send it to its lane, then delete it here: it may be doubled, never lost."""
        ...

    def set_aside(self, lane: Lane, letter: DeadLetter) -> None:
        """Hide it for DEAD_LETTER_HIDDEN_SECONDS; it stays in the queue for an operator."""
        ...


class ConnectionStore(Protocol):
    """WebSocket connections and their subscriptions. All methods raise DependencyUnavailable."""

    def open(self, connection: Connection, now: datetime) -> None:
        """Store a connection without subscriptions."""
        ...

    def find(self, connection_id: str) -> Connection | None:
        """The connection if it is open."""
        ...

    def subscribe(self, connection: Connection, ref: JobRef, now: datetime) -> None:
        """Idempotent. Raises NotFound, and Conflict when there are too many subscriptions."""
        ...

    def subscribe_to_events(self, connection: Connection, ref: JobRef, now: datetime) -> None:
        """To the domain events of a subject that is no job, such as a target; idempotent.

        `ref` names it as it would a job. Raises NotFound for a closed connection, and Conflict for
        too many subscriptions or a job, whose subscribers are counted.
        """
        ...

    def unsubscribe(self, connection_id: str, ref: JobRef) -> None:
        """Harmless when there is no such subscription."""
        ...

    def close(self, connection_id: str) -> None:
        """End its subscriptions and delete it; harmless when it is unknown.

        It can't subscribe any more from the start of the call on.
        """
        ...

    def opened_with(self, tenant: str, key_id: str, after: str | None, limit: int) -> list[str]:
        """Up to `limit` ids, sorted and after `after`, of the connections that a key opened."""
        ...

    def subscribers(self, ref: JobRef) -> list[Subscriber]:
        """The connections that are subscribed to a job, read consistently."""
        ...


class Sockets(Protocol):
    """Sends to WebSocket clients. Raises DependencyUnavailable after PUSH_SECONDS at the latest."""

    def post(self, connection_id: str, text: str) -> bool:
        """False when the client is gone."""
        ...

    def end(self, connection_id: str) -> None:
        """Close the connection; harmless when the client is gone."""
        ...

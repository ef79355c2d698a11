"""Ports of the job kernel: stores, queues and sockets."""

from collections.abc import Callable, Collection, Mapping, Sequence
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
    """Job that holds a duplicate key; `job` is None if its row is gone."""

    job_id: str
    job: Job | None


@dataclass(frozen=True, kw_only=True)
class NewJob:
    """Job row to be written, and the finished holder whose duplicate key it takes over."""

    job: Job
    replaces: Holder | None = None
    plan: Sequence[str] = field(default=(), repr=False)
    """Texts of at most PLAN_ROW_BYTES from which a parent's children are created."""


@dataclass(frozen=True, kw_only=True)
class Reopening:
    """Move of a finished parent, in the write that starts a new run of one of its children."""

    before: Job
    after: Job
    event: JobEvent


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """The claim succeeded; holds the claimed job."""

    job: Job
    lease: Lease


@dataclass(frozen=True, kw_only=True)
class Refused:
    """The claim failed; holds the current job, or None if there is no such job."""

    job: Job | None


class SubmissionRaced(Exception):
    """Raised when a key was taken or released, or its job moved, between look-up and write; look up
    again.
    """


class JobAmended(Exception):
    """Raised when a job would complete, but its payload was amended after its claim."""


Listener = Callable[[Job, Sequence[JobEvent]], None]
"""Function that a `PublishingJobStore` calls after every transition that has events.

It gets the new job and these events; it never raises.
"""

DuePosition = tuple[datetime, JobRef]
"""Position in the index `wake` or `resend`: time and job."""


@dataclass(frozen=True)
class ResendShard:
    """Partition of the index `resend`: kind and priority determine the lane."""

    kind: str
    priority: Priority
    shard: int


@dataclass(frozen=True, kw_only=True)
class DuePage:
    """Jobs that are due, oldest first; `after` is None on the last page."""

    refs: tuple[JobRef, ...]
    after: DuePosition | None


class JobStore(Protocol):
    """Job rows, their events and their idempotency records.

    All methods raise DependencyUnavailable if the store doesn't answer. Every write is one
    conditional, atomic operation. It raises ValueError for an event that is more than
    EVENT_AHEAD_SECONDS ahead of the process's clock.
    """

    def get(self, ref: JobRef) -> Job | None:
        """Return one job (consistent read), or None."""

    def find_reply(self, key: RequestKey, now: datetime) -> StoredReply | None:
        """Return the reply to an earlier request under this key, unless it has expired."""

    def find_duplicates(self, tenant: str, keys: Sequence[str]) -> dict[str, str]:
        """Return duplicate key → id of the job that holds it, for keys that are held."""

    def submit(
        self,
        jobs: Sequence[NewJob],
        events: Sequence[JobEvent],
        request: RequestKey | None,
        reply: Reply,
        now: datetime,
    ) -> None:
        """Write jobs, first events, duplicate keys and the reply in one transaction.

        `events` correspond to `jobs` one to one. Raises ValidationFailed for a payload that isn't
        JSON or exceeds JOB_PAYLOAD_BYTES. Raises SubmissionRaced if a key was taken meanwhile, or
        if a holder to be replaced was retried.
        """

    def claim(
        self,
        ref: JobRef,
        owner: str,
        now: datetime,
        until: datetime,
        kinds: Collection[str] | None = None,
    ) -> Claimed | Refused:
        """Claim a pending job that is due: set it running, increment its fence, lock it until
        `until`.

        A claim whose answer was lost is recognised by its `owner` and counts as claimed. A job of
        none of the given kinds is refused; None means all kinds.
        """

    def held_since(self, tenant: str) -> datetime | None:
        """Return since when the tenant's work is on hold, as of HOLD_KNOWN_SECONDS ago; None if it
        isn't.
        """

    def amend(self, job: Job, payload: Mapping[str, Any]) -> None:
        """Store a payload that also has what a later submission of the same work asks for.

        `job` is unfinished. It can't complete without being claimed with this payload. Raises
        SubmissionRaced if its status or payload has changed since it was read, and ValidationFailed
        for a payload over JOB_PAYLOAD_BYTES.
        """

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
        """Write what changed from `before` to `after`, and the events; return `watchers`.

        The domain event of an end (`ends.end_event`) is written in the same operation.

        With a lease, the condition is that the claim still holds the job. A repeated write of a
        claim's end, whose answer was lost, counts as written. Without a lease, the row must equal
        `before` in status, fence, owner, end of the lease, messages sent and watchers. Raises
        LeaseLost otherwise. Raises JobAmended if the job would complete, in whole or in part, but
        was amended since its claim.

        The end of a child's run is counted with its parent in the same operation, unless the
        parent's row is gone. `counted` are a parent's counters, shard by shard, which must be
        unchanged. A parent's counters and plan live as long as its row.

        `parent` is the job's parent if the move depends on its status: raises SubmissionRaced if
        it has moved since it was read.
        """

    def begin_run(
        self,
        before: Job,
        after: Job,
        event: JobEvent,
        holder: Holder | None,
        parent: Reopening | Job | None = None,
    ) -> None:
        """Start the job's next run; take the job's duplicate key from `holder`.

        A child leaves its parent's counter. `parent` is the parent's own move if it was finished,
        else its current row; None if that row is gone, or the job has no parent.

        Raises SubmissionRaced if the row, the parent, the key's holder, or that job's status and
        fence have changed since they were read: a holder that was retried meanwhile does the same
        work.
        """

    def add_children(
        self,
        before: Job,
        after: Job,
        children: Sequence[NewJob],
        events: Sequence[JobEvent],
        *,
        lease: Lease,
    ) -> None:
        """Write at most CHILDREN_PER_WRITE children, count them, and update their claimed parent.

        Raises LeaseLost if the claim has ended, and SubmissionRaced as `submit`. A write that is
        repeated because its answer was lost also raises LeaseLost, since the parent's cursor has
        moved.
        """

    def plan(self, parent: JobRef, number: int) -> str | None:
        """Return one text of a parent's plan; None after the last one."""

    def child_counts(self, parent: JobRef, shards: Sequence[int]) -> list[ChildCounts]:
        """Return the counters of these shards (consistent read)."""

    def children(
        self, parent: JobRef, statuses: Sequence[JobStatus], after: str | None, limit: int
    ) -> Page[JobRef]:
        """Return a parent's children in one of these states; eventually consistent."""

    def to_wake(
        self, shard: int, until: datetime, limit: int, after: DuePosition | None = None
    ) -> DuePage:
        """Return the jobs of a shard with `rules.wake_at` <= `until`, oldest first.

        Eventually consistent: a page may contain jobs that have changed, and may lack others.
        """

    def to_resend(
        self,
        resend: ResendShard,
        until: datetime,
        limit: int,
        after: DuePosition | None = None,
    ) -> DuePage:
        """Return the pending jobs with `rules.resend_at` <= `until`; otherwise as `to_wake`."""

    def page(self, tenant: str, wanted: JobFilter, after: str | None, limit: int) -> Page[Job]:
        """Return a tenant's jobs, newest first, after the position `after` of a page.

        Reads a bounded number of index rows: a page may hold fewer than `limit` jobs, or none, and
        still have a next page.
        """

    def events(self, ref: JobRef, after: str | None, limit: int) -> list[JobEvent]:
        """Return a job's timeline after the event id `after`, in order."""


@dataclass(frozen=True, kw_only=True)
class EffectStarted:
    """No claim has started this effect before."""


@dataclass(frozen=True, kw_only=True)
class EffectUncertain:
    """An earlier claim started the effect and has ended; the effect may have happened."""


@dataclass(frozen=True, kw_only=True)
class EffectDone:
    """The effect happened, with this result."""

    result: Mapping[str, Any]


class EffectStore(Protocol):
    """Records of side effects, by tenant and key. Methods raise DependencyUnavailable."""

    def begin(
        self, lease: Lease, key: str, request: str, now: datetime, until: datetime
    ) -> EffectStarted | EffectUncertain | EffectDone:
        """Record that this claim is about to perform an effect, in a call that ends by `until`.

        Raises LeaseLost, and IdempotencyMismatch for another request under the key. Raises
        Contended while the call of another claim may still run, or while the claim of another job
        that started it still holds that job; `retry_after` is the time until then.
        """

    def finish(self, lease: Lease, key: str, result: Mapping[str, Any], now: datetime) -> None:
        """Record the result. Raises LeaseLost if another claim has started the effect since."""


class JobQueue(Protocol):
    """Queue of messages that name due jobs; lost or duplicate messages are harmless."""

    def send(self, lane: Lane, refs: Sequence[JobRef], delay_seconds: int = 0) -> None:
        """Send messages after a delay of 0 to 900 s. Raises DependencyUnavailable."""

    def backlog(self, lane: Lane) -> Backlog:
        """Return the approximate size of the lane. Raises DependencyUnavailable."""


class DeadLetterQueues(Protocol):
    """The dead-letter queues of the lanes. All methods raise DependencyUnavailable."""

    def count(self, lane: Lane) -> int:
        """Return the number of letters, hidden ones included; up to a minute late."""

    def receive(self, lane: Lane, limit: int) -> list[DeadLetter]:
        """Return up to `limit` letters (at most 10), and hide them from others for a minute."""

    def send_back(self, lane: Lane, letter: DeadLetter) -> None:
        """Send the letter to its lane, then delete it here: it may be duplicated, never lost."""

    def set_aside(self, lane: Lane, letter: DeadLetter) -> None:
        """Hide the letter for DEAD_LETTER_HIDDEN_SECONDS; it stays in the queue for an operator."""


class ConnectionStore(Protocol):
    """WebSocket connections and their subscriptions. All methods raise DependencyUnavailable."""

    def open(self, connection: Connection, now: datetime) -> None:
        """Store a connection without subscriptions."""

    def find(self, connection_id: str) -> Connection | None:
        """Return the connection if it is open, else None."""

    def subscribe(self, connection: Connection, ref: JobRef, now: datetime) -> None:
        """Subscribe to a job; idempotent. Raises NotFound, or Conflict for too many."""

    def subscribe_to_events(self, connection: Connection, ref: JobRef, now: datetime) -> None:
        """Subscribe to the domain events of a subject that is no job, such as a target; idempotent.

        `ref` holds the subject's id in place of a job's. Raises NotFound for a closed connection.
        Raises Conflict for too many subscriptions, or for a job, whose subscribers are counted.
        """

    def unsubscribe(self, connection_id: str, ref: JobRef) -> None:
        """End the subscription; no-op if there is none."""

    def close(self, connection_id: str) -> None:
        """End the connection's subscriptions and delete it; no-op if unknown.

        New subscriptions are refused from the start of the call.
        """

    def opened_with(self, tenant: str, key_id: str, after: str | None, limit: int) -> list[str]:
        """Return up to `limit` ids of connections that a key opened, sorted, after `after`."""

    def subscribers(self, ref: JobRef) -> list[Subscriber]:
        """Return the connections that subscribe to a job (consistent read)."""


class Sockets(Protocol):
    """Sender to WebSocket clients. Raises DependencyUnavailable within PUSH_SECONDS."""

    def post(self, connection_id: str, text: str) -> bool:
        """Send a text; return False if the client is gone."""

    def end(self, connection_id: str) -> None:
        """Close the connection; no-op if the client is gone."""

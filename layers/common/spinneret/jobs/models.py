"""The job record and related values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NewType

from spinneret.kernel import bounds


class JobStatus(StrEnum):
    """State of a job; the last five are final within a run."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    PARTIALLY_FAILED = "partially_failed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Priority(StrEnum):
    """Priority requested by the submitter; it selects the lane."""

    CRITICAL = "critical"
    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


Lane = NewType("Lane", str)
"""Name of one queue with its own concurrency, as declared by the domains' kinds."""


class Transition(StrEnum):
    """Operation that changes a job; see `rules.TRANSITIONS` for the states."""

    CLAIM = "claim"
    CHECKPOINT = "checkpoint"
    COMPLETE = "complete"
    FAIL = "fail"
    WAIT = "wait"
    HAND_BACK = "hand back"
    LOSE_LEASE = "lose lease"
    RESEND = "resend"
    SUPPLY = "supply"
    CANCEL = "cancel"
    PAUSE = "pause"
    RESUME = "resume"
    RETRY = "retry"
    EXPIRE = "expire"
    AWAIT = "await its children"
    END_PARTLY = "end partly failed"
    REOPEN = "await a child again"


class JobEventKind(StrEnum):
    """Kinds of progress events (P-06)."""

    STATUS_CHANGED = "status_changed"
    STEP_STARTED = "step_started"
    STEP_DONE = "step_done"
    WARNING = "warning"
    ERROR = "error"
    METRIC = "metric"


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Reason why a job failed or waits, as its tenant may see it."""

    code: str
    message: str
    type: str
    """`permanent`, `transient`, `dependency`, `lease_expired`, `expired` or `internal`."""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class JobRef:
    """Reference to one job; the body of every queue message."""

    tenant: str
    job_id: str


@dataclass(frozen=True, kw_only=True)
class ParentState:
    """State of a parent's children in its row; separate rows count how the children ended."""

    shards: int
    """Number of counters; a child's id determines its counter."""
    cursor: str | None = ""
    """Position at which to continue creating children, in a format of the kind's handler.

    None when all children exist: only then may the parent end.
    """
    settled: bool = False
    """Whether all children have ended, so that nothing else is pending."""
    cancelled_to: str | None = None
    """Last child up to which the sweeper has cancelled all; None before the first."""
    plan_rows: int = 0
    """Number of rows of the plan."""
    retried_in: int = 1
    """Run that the tenant's last retry of the parent began: it retries the children of earlier
    runs.
    """


@dataclass(frozen=True, kw_only=True)
class ChildCounts:
    """Number of children of a shard or a parent: in total, and by terminal state."""

    created: int = 0
    completed: int = 0
    partially_failed: int = 0
    failed: int = 0
    cancelled: int = 0
    expired: int = 0

    @property
    def ended(self) -> int:
        """Number of children in a terminal state of their present run."""
        return self.completed + self.partially_failed + self.failed + self.cancelled + self.expired

    @property
    def pending(self) -> int:
        """Number of unfinished children."""
        return self.created - self.ended


@dataclass(frozen=True, kw_only=True)
class Job:
    """One piece of work.

    `fence` rises with every claim and guards every write of that claim. `attempts` counts only
    failures and expired leases, never deferrals or released claims.
    """

    tenant: str
    id: str
    kind: str
    status: JobStatus
    priority: Priority
    payload: Mapping[str, Any] = field(repr=False)
    created_at: datetime
    updated_at: datetime
    """Time of the last move; see `Transition`."""
    due_at: datetime
    """Earliest time of the next claim."""
    run: int = 1
    fence: int = 0
    attempts: int = 0
    max_attempts: int = bounds.JOB_MAX_ATTEMPTS
    result_seconds: int = bounds.RESULT_FRESH_SECONDS
    max_redrives: int = 0
    redrives: int = 0
    """Retry series used so far: further attempts after transient failures (ruling "Redrive")."""
    worked_ms: int = 0
    """Time spent under claims of this run, in ms; bounded by the kind's time limit."""
    claimed_at: datetime | None = None
    sends: int = 1
    """Messages sent for the present wait; 0 while a wait is longer than SQS can delay."""
    resent_at: datetime | None = None
    """Time of the sweeper's last message for the present wait."""
    own_faults: int = 0
    """Consecutive waits for one of our own parts; never counted as attempts."""
    waiting_since: datetime | None = None
    """Start of the first of these waits."""
    waiting_for: str | None = None
    """Name of what a deferred job waits for, such as a host; it holds a reservation there."""
    deferred_since: datetime | None = None
    """Time of the first deferral of this run."""
    expires_at: datetime | None = None
    """Latest time of the next claim, while the job waits for its first claim or is deferred; set
    only for kinds with a pending limit.
    """
    ending: bool = False
    """Whether the job's time has expired: it only checks what its claims made, and creates nothing.
    """
    locked_by: str | None = None
    locked_until: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    progress: int = 0
    step: str | None = None
    result: Mapping[str, Any] | None = None
    last_error: Failure | None = None
    domain: str | None = None
    """Host that the job is about, for lists."""
    batch: str | None = None
    """Id of the submission, if it made several jobs; for a child, the parent's id."""
    created_by: str | None = None
    """Id of the key or user that submitted the job; None for a child and for the system's jobs."""
    parent: str | None = None
    """Id of the parent, which counts the end of this job."""
    parent_shard: int = 0
    """Number of the parent's counter that counts this job."""
    parent_run: int = 1
    """Run of the parent in which this job's run began."""
    rests_unchecked: bool = False
    """Whether the job stopped because its parent was paused, and the sweeper hasn't looked since.
    """
    family: ParentState | None = None
    """State of the children; set for parents only."""
    duplicate_key: str | None = None
    """Fingerprint of the job's work (P-05's implicit key)."""
    idempotency_key: str | None = None
    """Scope of the submission's Idempotency-Key, else `duplicate_key` (P-05)."""
    notify: tuple[str, ...] = field(default=(), repr=False)
    """Webhooks of this one job that receive its end event, in addition to the tenant's endpoints.
    """
    amendments: int = 0
    """Number of times that later submissions of the same work added to the payload."""
    watchers: int = 0
    """Number of live subscribers; written only by subscribing and unsubscribing."""

    @property
    def ref(self) -> JobRef:
        """Reference to the job."""
        return JobRef(tenant=self.tenant, job_id=self.id)

    @property
    def result_expires_at(self) -> datetime | None:
        """Time until which the result answers duplicates (ruling "Duplicate"); None without a
        result.
        """
        if self.status is not JobStatus.COMPLETED or self.finished_at is None:
            return None
        return self.finished_at + timedelta(seconds=self.result_seconds)


@dataclass(frozen=True, kw_only=True)
class Lease:
    """Proof of a claim; carried by every write made under it."""

    tenant: str
    job_id: str
    fence: int
    owner: str


@dataclass(frozen=True, kw_only=True)
class JobEvent:
    """One line of a job's timeline; ordered by (fence, number)."""

    fence: int
    number: int
    kind: JobEventKind
    message: str
    created_at: datetime
    progress: int
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Id whose sort order is that of the timeline."""
        return f"{self.fence:08d}-{self.number:06d}"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """Job to be submitted, as its domain describes it."""

    kind: str
    payload: Mapping[str, Any] = field(repr=False)
    priority: Priority
    domain: str | None = None
    notify: tuple[str, ...] = field(default=(), repr=False)
    duplicate_key: str | None
    """None bypasses the duplicate check (`force`)."""
    id: str | None = None
    """Id already promised to the tenant, so no other job can replace this one."""
    due_at: datetime | None = None
    """Time until which the job waits, unless `JobService.supply` gives it its input before; None if
    it is due at once."""
    waiting_for: str | None = None
    """Name of what it waits for."""
    once: bool = False
    """Whether an earlier job with the same key replaces this one however it ended, even by failure.
    """


@dataclass(frozen=True, kw_only=True)
class Backlog:
    """Approximate number of messages in a lane, as its queue reports it, without delayed ones."""

    waiting: int
    """Messages that can be received."""
    in_flight: int
    """Messages received, but neither deleted nor visible again yet."""


@dataclass(frozen=True, kw_only=True)
class DeadLetter:
    """A message in the dead-letter queue of its lane."""

    body: str
    receipt: str
    """Receipt handle, valid until the visibility timeout."""
    moves: int | None
    """Number of times the message was sent back before; None if the count can't be read."""
    group: str | None
    """Message group, which is the tenant; None if it has none."""
    trace: str = ""
    """X-Ray header of the trace that sent it; empty if it has none."""


@dataclass(frozen=True, kw_only=True)
class JobFilter:
    """Filter of a job list; None matches all."""

    kind: str | None = None
    status: JobStatus | None = None
    domain: str | None = None
    batch: str | None = None
    troubled: bool = False
    """Only jobs that failed or wait for a further retry series; read from their own index."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """Stored answer, which an idempotent replay repeats."""

    status: int
    body: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class RequestKey:
    """Idempotency-Key in its scope, and the payload of the request."""

    tenant: str
    scope: str
    """Fingerprint of method, route template and key."""
    payload: str
    """Fingerprint of the request's query and body."""


@dataclass(frozen=True, kw_only=True)
class StoredReply:
    """The reply to the first request under an idempotency key."""

    payload: str
    reply: Reply


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A WebSocket client."""

    id: str
    tenant: str
    key_id: str
    """API key that opened the connection, directly or through a ticket."""
    ends_at: datetime | None = None
    """Expiry of that key or ticket; None for never."""
    only_job: str | None = None
    """The only job that it may subscribe to, if a ticket opened it."""
    jobs: frozenset[str] = frozenset()
    """Ids of the jobs that the connection subscribes to."""


@dataclass(frozen=True, kw_only=True)
class Subscriber:
    """A connection that is subscribed to a job."""

    connection_id: str
    ends_at: datetime | None
    """Expiry of the connection."""

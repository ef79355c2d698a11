"""The job record and the values around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NewType

from spinneret.kernel import bounds


class JobStatus(StrEnum):
    """The state of a job; within a run nothing leaves the last five."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    PARTIALLY_FAILED = "partially_failed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Priority(StrEnum):
    """What the submitter asks for; lanes serve it."""

    CRITICAL = "critical"
    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


Lane = NewType("Lane", str)
"""One queue with its own concurrency, by the name that the domains' kinds declare."""


class Transition(StrEnum):
    """What can happen to a job; `rules.TRANSITIONS` has its states."""

    CLAIM = "claim"
    CHECKPOINT = "checkpoint"
    COMPLETE = "complete"
    FAIL = "fail"
    WAIT = "wait"
    HAND_BACK = "hand back"
    LOSE_LEASE = "lose lease"
    RESEND = "resend"
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
    """Why a job failed or waits, as its tenant may see it."""

    code: str
    message: str
    type: str
    """`permanent`, `transient`, `dependency`, `lease_expired`, `expired` or `internal`."""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class JobRef:
    """Names one job; the body of every queue message."""

    tenant: str
    job_id: str


@dataclass(frozen=True, kw_only=True)
class ParentState:
    """What a parent's row says of its children; how they ended is counted in rows of their own."""

    shards: int
    """Number of counters; a child's id names its own."""
    cursor: str | None = ""
    """Where the creation of children goes on, in the words of the kind's own handler; None when all
    exist: only then may the parent end."""
    settled: bool = False
    """All children have ended, and nothing waits for them."""
    cancelled_to: str | None = None
    """The child up to which the sweeper has cancelled all; None before the first."""


@dataclass(frozen=True, kw_only=True)
class ChildCounts:
    """How many children of a shard, or of a parent, exist and have ended in which way."""

    created: int = 0
    completed: int = 0
    partially_failed: int = 0
    failed: int = 0
    cancelled: int = 0
    expired: int = 0

    @property
    def ended(self) -> int:
        """Those in a terminal state of their present run."""
        return self.completed + self.partially_failed + self.failed + self.cancelled + self.expired

    @property
    def pending(self) -> int:
        """Those that have not ended."""
        return self.created - self.ended


@dataclass(frozen=True, kw_only=True)
class Job:
    """One piece of work.

    `fence` rises with every claim and guards every write of that claim. `attempts` counts only
    failures and expired leases, never deferrals or hand-backs.
    """

    tenant: str
    id: str
    kind: str
    status: JobStatus
    priority: Priority
    payload: Mapping[str, Any] = field(repr=False)
    created_at: datetime
    updated_at: datetime
    """Its last move; see `Transition`."""
    due_at: datetime
    """Not to be claimed earlier."""
    run: int = 1
    fence: int = 0
    attempts: int = 0
    max_attempts: int = bounds.JOB_MAX_ATTEMPTS
    result_seconds: int = bounds.RESULT_FRESH_SECONDS
    max_redrives: int = 0
    redrives: int = 0
    """Retry series used up: further attempts after transient failures (ruling "Redrive")."""
    worked_ms: int = 0
    """Time spent under claims of this run; bounded by the kind's time limit."""
    claimed_at: datetime | None = None
    sends: int = 1
    """Messages sent for the present wait; 0 while a wait is longer than SQS can delay."""
    resent_at: datetime | None = None
    """When the sweeper sent its last message for the present wait."""
    own_faults: int = 0
    """Waits in a row for one of our own parts; never counted as attempts."""
    waiting_since: datetime | None = None
    """When the first of these waits began."""
    waiting_for: str | None = None
    """What a deferred job waits for, such as a host; it holds a reservation there."""
    deferred_since: datetime | None = None
    """First deferral of this run."""
    expires_at: datetime | None = None
    """Not to be claimed later, while it waits for its first claim or is deferred; only kinds with a
    pending limit have it."""
    ending: bool = False
    """Its time is over: it only finds out what its claims made, and makes nothing more."""
    locked_by: str | None = None
    locked_until: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    progress: int = 0
    step: str | None = None
    result: Mapping[str, Any] | None = None
    last_error: Failure | None = None
    domain: str | None = None
    """The host that the job is about, for lists."""
    batch: str | None = None
    """The submission that the job came with, if it made several; a child's is its parent."""
    parent: str | None = None
    """The job that counts this one's end."""
    parent_shard: int = 0
    """The counter of its parent that counts it."""
    family: ParentState | None = None
    """Of a parent."""
    duplicate_key: str | None = None
    """Fingerprint of what the job does (P-05's implicit key)."""
    idempotency_key: str | None = None
    """Scope of the Idempotency-Key that it came under, else `duplicate_key` (P-05)."""
    notify: tuple[str, ...] = field(default=(), repr=False)
    """Webhooks of this one job that get the event of its end, beside the tenant's endpoints."""
    watchers: int = 0
    """Number of live subscribers; written by subscribing and unsubscribing only."""

    @property
    def ref(self) -> JobRef:
        """The job's name."""
        return JobRef(tenant=self.tenant, job_id=self.id)

    @property
    def result_expires_at(self) -> datetime | None:
        """Until then its result answers duplicates (ruling "Duplicate"); None without a result."""
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
        """Sorts as the timeline does."""
        return f"{self.fence:08d}-{self.number:06d}"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A job to be submitted, as its domain describes it."""

    kind: str
    payload: Mapping[str, Any] = field(repr=False)
    priority: Priority
    domain: str | None = None
    notify: tuple[str, ...] = field(default=(), repr=False)
    duplicate_key: str | None
    """None bypasses the duplicate check (`force`)."""
    id: str | None = None
    """An id that was promised to the tenant: then no other job stands for this one."""
    once: bool = False
    """Whether a job of the same key stands for this one however it ended, failures included."""


@dataclass(frozen=True, kw_only=True)
class Backlog:
    """About how many messages a lane holds, as its queue knows it; delayed ones don't count."""

    waiting: int
    """To be received."""
    in_flight: int
    """Received, and neither deleted nor back yet."""


@dataclass(frozen=True, kw_only=True)
class DeadLetter:
    """A message in the dead-letter queue of its lane."""

    body: str
    receipt: str
    """Receipt handle, valid until the visibility time-out."""
    moves: int | None
    """How often it was sent back before; None when its count can't be read."""
    group: str | None
    """The group that it was sent in: its tenant, or none."""


@dataclass(frozen=True, kw_only=True)
class JobFilter:
    """Which jobs a list shows; None means all."""

    kind: str | None = None
    status: JobStatus | None = None
    domain: str | None = None
    batch: str | None = None
    troubled: bool = False
    """Only jobs that failed or wait for a further retry series; they have an index of their own."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A stored answer: what an idempotent replay repeats."""

    status: int
    body: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class RequestKey:
    """An Idempotency-Key in its scope, and the payload it came with."""

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
    """The API key that opened it, directly or through a ticket."""
    ends_at: datetime | None = None
    """When that key or ticket expires; None for never."""
    only_job: str | None = None
    """The one job that it may subscribe to, if a ticket opened it."""
    jobs: frozenset[str] = frozenset()
    """Ids of the jobs that it subscribes to."""


@dataclass(frozen=True, kw_only=True)
class Subscriber:
    """A connection that is subscribed to a job."""

    connection_id: str
    ends_at: datetime | None
    """As the connection's."""

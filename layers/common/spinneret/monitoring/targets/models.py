"""Values of targets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from spinneret.kernel import bounds
from spinneret.monitoring.checks.models import Outcome
from spinneret.monitoring.rollups.models import HourTally


class Method(StrEnum):
    """How a target is asked."""

    GET = "GET"
    HEAD = "HEAD"
    """Without a body; a GET where the site refuses it."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What an owner chooses for a target."""

    name: str | None = None
    interval_seconds: int = bounds.CHECK_INTERVAL_SECONDS
    method: Method = Method.GET
    failure_threshold: int = bounds.FAILURE_THRESHOLD
    """Failed checks in a row until the target is down; slow ones until it is degraded."""
    recovery_threshold: int = bounds.RECOVERY_THRESHOLD
    """Good checks in a row until it is up again."""
    degraded_ms: int | None = None
    """A slower answer is degraded."""
    conditions: tuple[str, ...] = ()
    certificate_days: tuple[int, ...] = bounds.CERTIFICATE_DAYS
    """How many days before its certificate's end the owner is warned."""
    watch_content: bool = False
    """Report a body that isn't as it was."""
    public: bool = False
    """Shown on the tenant's status page."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """One URL that a tenant has watched."""

    tenant: str
    id: str
    url: str
    """As it was given."""
    canonical_url: str
    """What is asked for, and the tenant's only one."""
    host: str
    created_at: datetime
    updated_at: datetime
    options: Options
    paused: bool = False
    version: int = 1
    """Goes up by one with every change by its owner."""


class Status(StrEnum):
    """How a target is, after as many checks in a row as its thresholds ask for."""

    PENDING = "pending"
    UP = "up"
    DEGRADED = "degraded"
    DOWN = "down"


@dataclass(frozen=True, kw_only=True)
class LastCheck:
    """The last check that asked the site."""

    at: datetime
    outcome: Outcome
    in_maintenance: bool
    interval_seconds: int
    """Of the target at that time: how long the outcome may hold."""
    status_code: int | None
    latency_ms: int
    error: str | None
    counts: bool = True
    """Whether the outcome still holds; a pause ends it."""


@dataclass(frozen=True, kw_only=True)
class CertificateState:
    """What is known of a target's certificate."""

    not_after: datetime
    warned_days: int | None = None
    """The last warning that was given for this certificate."""


@dataclass(frozen=True, kw_only=True)
class OpenIncident:
    """The incident that isn't over."""

    id: str
    started_at: datetime
    entries: int


@dataclass(frozen=True, kw_only=True)
class TargetState:
    """How a target is; written by its checks, apart from what its owner chose."""

    sequence: int = 0
    """Goes up by one with every check and every change by the owner; the condition of the next
    write."""
    due_at: datetime | None = None
    """When it is to be checked next; None while it is paused."""
    status: Status = Status.PENDING
    status_since: datetime | None = None
    failures: int = 0
    """Failed checks in a row; so the others."""
    successes: int = 0
    slow: int = 0
    fast: int = 0
    trouble_since: datetime | None = None
    """The first of the failed or slow checks that are counted."""
    last: LastCheck | None = None
    incident: OpenIncident | None = None
    certificate: CertificateState | None = None
    body_sha256: str | None = None
    skips: int = 0
    """In a row."""
    reservation: str | None = None
    """Of a slot of the host's pace, for the next try (`WaitUntil.waiting_for`)."""
    hour: HourTally | None = None
    """Figures of the hour of the last check; earlier hours have rows of their own."""
    checks_total: int = 0
    failures_total: int = 0
    skips_total: int = 0


@dataclass(frozen=True, kw_only=True)
class TargetWithState:
    """A target with its state."""

    target: Target
    state: TargetState


@dataclass(frozen=True, kw_only=True)
class IdempotencyRecord:
    """What a request with an Idempotency-Key was answered."""

    tenant: str
    scope: str
    payload: str
    """The fingerprint of the request's body."""
    status: int
    target_id: str
    body: str
    """JSON."""
    created_at: datetime

"""Value classes of targets."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from spinneret.monitoring import limits
from spinneret.monitoring.checks.models import Outcome
from spinneret.monitoring.rollups.models import HourTally


class Method(StrEnum):
    """HTTP method of a target's checks."""

    GET = "GET"
    HEAD = "HEAD"
    """Responses have no body; the check uses GET if the site refuses HEAD."""


@dataclass(frozen=True, kw_only=True)
class QuietHours:
    """Daily hours without reports, by the wall clock; they may pass midnight."""

    start: str
    """Begin as `22:00`."""
    end: str
    """End, exclusive; not equal to the begin."""
    timezone: str
    """Name of a time zone in the IANA database."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options that an owner chooses for a target."""

    name: str | None = None
    interval_seconds: int = limits.CHECK_INTERVAL_SECONDS
    method: Method = Method.GET
    failure_threshold: int = limits.FAILURE_THRESHOLD
    """Consecutive failed checks until the target is down, or slow ones until it is degraded."""
    recovery_threshold: int = limits.RECOVERY_THRESHOLD
    """Consecutive good checks until the target is up again."""
    degraded_ms: int | None = None
    """Milliseconds above which a response counts as degraded; None for no limit."""
    conditions: tuple[str, ...] = ()
    certificate_days: tuple[int, ...] = limits.CERTIFICATE_DAYS
    """Days before the certificate's expiry at which the owner is warned."""
    watch_content: bool = False
    """Whether a changed body is reported."""
    public: bool = False
    """Whether the tenant's status page shows the target."""
    retry_seconds: int | None = None
    """Seconds until the next check while a failure or its end isn't confirmed; None for the
    interval."""
    reminder_minutes: int | None = None
    """Minutes after a report at which an incident that lasts is reported again; None for never."""
    quiet_hours: QuietHours | None = None


@dataclass(frozen=True, kw_only=True)
class Target:
    """A URL that a tenant monitors."""

    tenant: str
    id: str
    url: str
    """URL as given by the owner."""
    canonical_url: str
    """URL that checks request; unique per tenant."""
    host: str
    created_at: datetime
    updated_at: datetime
    options: Options
    paused: bool = False
    version: int = 1
    """Incremented by every change of the owner."""


class Status(StrEnum):
    """Status of a target.

    It changes after as many consecutive checks as its thresholds demand.
    """

    PENDING = "pending"
    UP = "up"
    DEGRADED = "degraded"
    DOWN = "down"


@dataclass(frozen=True, kw_only=True)
class LastCheck:
    """Last check that wasn't skipped."""

    at: datetime
    outcome: Outcome
    in_maintenance: bool
    interval_seconds: int
    """The target's interval at that time; it bounds how long the outcome holds."""
    status_code: int | None
    latency_ms: int
    error: str | None
    counts: bool = True
    """Whether the outcome still holds; a pause ends it."""


@dataclass(frozen=True, kw_only=True)
class CertificateState:
    """Known facts about a target's certificate."""

    not_after: datetime
    warned_days: int | None = None
    """Days of the last warning sent for this certificate."""


@dataclass(frozen=True, kw_only=True)
class OpenIncident:
    """The incident under way."""

    id: str
    started_at: datetime
    entries: int
    reported_at: datetime | None = None
    """Time of the last report about it; None if quiet hours hold it back."""


@dataclass(frozen=True, kw_only=True)
class Reported:
    """Status that subscribers know while quiet hours hold back a change."""

    status: Status
    incident: OpenIncident | None


@dataclass(frozen=True, kw_only=True)
class TargetState:
    """State of a target. Checks write it separately from the owner's options."""

    sequence: int = 0
    """Incremented by every check and every change of the owner; the next write requires it."""
    due_at: datetime | None = None
    """Time of the next check; None while paused."""
    status: Status = Status.PENDING
    status_since: datetime | None = None
    failures: int = 0
    """Consecutive failed checks; the next three count likewise."""
    successes: int = 0
    slow: int = 0
    fast: int = 0
    trouble_since: datetime | None = None
    """Time of the first failed or slow check of the series."""
    last: LastCheck | None = None
    incident: OpenIncident | None = None
    reported: Reported | None = None
    """None if all changes of status have been reported."""
    certificate: CertificateState | None = None
    body_sha256: str | None = None
    skips: int = 0
    """Consecutive skips."""
    reservation: str | None = None
    """Reservation in the host's rate limit for the next try (`WaitUntil.waiting_for`)."""
    slot: str | None = None
    """Owner of the host's slot in the last check, which ended the slot (`slots`)."""
    paced_seconds: int | None = None
    """Seconds between two checks that the host's rate limit leaves; None for the interval."""
    hour: HourTally | None = None
    """Figures of the last check's hour; earlier hours have their own rows."""
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
    """Stored response to a request with an Idempotency-Key."""

    tenant: str
    scope: str
    payload: str
    """Fingerprint of the request's body."""
    status: int
    target_id: str
    body: str
    """Response body as JSON."""
    created_at: datetime

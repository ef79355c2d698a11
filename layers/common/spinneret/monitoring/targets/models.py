"""Value classes of targets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from spinneret.monitoring import limits
from spinneret.monitoring.checks.models import Outcome
from spinneret.monitoring.rollups.models import HourTally


class Kind(StrEnum):
    """Way in which a target is checked."""

    HTTP = "http"
    TCP = "tcp"
    """A connection is opened and closed."""
    DNS = "dns"
    """A record is read from the system's name servers."""
    HEARTBEAT = "heartbeat"
    """Nothing is asked: a job of the owner calls, and a late call is a failed check."""


class RecordType(StrEnum):
    """Type of a DNS record."""

    A = "A"
    AAAA = "AAAA"
    CNAME = "CNAME"
    MX = "MX"
    TXT = "TXT"
    NS = "NS"


class Method(StrEnum):
    """HTTP method of a target's checks. Only GET and HEAD follow redirects."""

    GET = "GET"
    HEAD = "HEAD"
    """Responses have no body; the check uses GET if the site refuses HEAD."""
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"
    OPTIONS = "OPTIONS"


@dataclass(frozen=True, kw_only=True)
class OwnRequest:
    """Headers, body and credentials that an owner adds to the request of a check."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: str | None = field(default=None, repr=False)
    username: str | None = field(default=None, repr=False)
    """User of Basic authentication (RFC 7617), without a colon; None without credentials."""
    password: str = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class SealedRequest:
    """An owner's part of a request, sealed, and what may be shown of it."""

    sealed: str = field(repr=False)
    """Ciphertext in base64."""
    header_names: tuple[str, ...] = ()
    has_body: bool = False
    has_credentials: bool = False


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
    request: SealedRequest | None = None
    """The owner's part of an HTTP request."""
    expected: tuple[str, ...] = ()
    """Values that a DNS answer must contain, normalized; empty for any answer."""
    grace_seconds: int = 0
    """Seconds after the interval until the missing call of a heartbeat is a failure."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Subject of a target's checks; it never changes."""

    kind: Kind
    url: str
    """URL as given by the owner, which HTTP checks request; for other kinds the same as
    `canonical_url`."""
    canonical_url: str
    """Canonical form of the URL; `tcp://host:port`, `dns:name?type=MX` or `heartbeat:id` for other
    kinds. Unique per tenant."""
    host: str
    """Host of which one check runs at a time; of a heartbeat its id."""
    port: int | None = None
    """Port of a TCP check."""
    record_type: RecordType | None = None
    """Record type of a DNS check."""


@dataclass(frozen=True, kw_only=True)
class Target(Identity):
    """Something that a tenant monitors."""

    tenant: str
    id: str
    created_at: datetime
    updated_at: datetime
    options: Options
    kind: Kind = Kind.HTTP
    call_hash: str | None = None
    """SHA-256 of the secret token by which a heartbeat is called; None until one is issued."""
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
    """Seconds within which another check was expected; they bound how long the outcome holds."""
    status_code: int | None
    latency_ms: int
    error: str | None
    cause: str | None = None
    """Cause of the error without values that differ from check to check; None for `error`."""
    counts: bool = True
    """Whether the outcome still holds; a pause ends it."""
    paused_at: datetime | None = None
    """Time of that pause."""


@dataclass(frozen=True, kw_only=True)
class CertificateState:
    """Known facts about a target's certificate."""

    not_after: datetime
    warned_days: int | None = None
    """Days of the last warning sent, …"""
    warned_end: datetime | None = None
    """… and the end of the certificate that it named; None for `not_after`."""


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
    skips_reported: bool = False
    """Whether these skips were reported."""
    reservation: str | None = None
    """Reservation in the host's rate limit for the next try (`WaitUntil.waiting_for`)."""
    slot: str | None = None
    """Owner of the host's slot in the last check, which ended the slot (`slots`)."""
    paced_seconds: int | None = None
    """Seconds between two checks that the host's rate limit leaves; None for the interval."""
    called_at: datetime | None = None
    """Time of a heartbeat's last call."""
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

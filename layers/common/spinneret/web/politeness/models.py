"""Values of politeness towards a host: its pace and its breaker.

Moments inside stored states are epoch milliseconds; callers get datetimes.
"""

import math
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self

from spinneret.kernel import bounds
from spinneret.web import limits
from spinneret.web.politeness.changes import Row

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def to_ms(moment: datetime) -> int:
    """Convert to epoch milliseconds, rounded down."""
    return (moment - _EPOCH) // _MILLISECOND


def from_ms(milliseconds: int) -> datetime:
    """Convert from epoch milliseconds; the inverse of `to_ms`."""
    return _EPOCH + milliseconds * _MILLISECOND


class Record(StrEnum):
    """Rows of one host."""

    PACE = "PACE"
    SESSION = "SESSION"
    ROBOTS = "ROBOTS"


@dataclass(frozen=True, kw_only=True)
class SessionOptions:
    """A stage's lock and throttle of sessions (F-04, F-05)."""

    lock_ttl_seconds: int = 300
    throttle_ttl_seconds: int = 60
    """Maximum age of a session's end that still throttles the next session."""
    min_delay_ms: int = 2000
    disable_throttle: bool = False
    disable_locks: bool = False
    """Also disables the throttle."""


@dataclass(frozen=True, kw_only=True)
class BreakerLimits:
    """Consecutive failures after which a caller stops requests to a host, and for how many seconds.

    Failures older than BREAKER_MEMORY_SECONDS don't count. Raises ValueError.
    """

    threshold: int = limits.BREAKER_FAILURES
    open_seconds: float = limits.BREAKER_OPEN_SECONDS

    def __post_init__(self) -> None:
        longest = limits.BREAKER_MEMORY_SECONDS
        if not (
            1 <= self.threshold <= limits.BREAKER_FAILURES_MAX and 0 < self.open_seconds <= longest
        ):
            raise ValueError(f"impossible breaker: {self}")

    @property
    def open_ms(self) -> int:
        """`open_seconds` in milliseconds."""
        return round(1000 * self.open_seconds)


@dataclass(frozen=True, kw_only=True)
class PaceLimits:
    """Pace of a caller at a host: `rate` per second after a burst of `burst`; and a breaker.

    A gap (in seconds), or a burst of 1, makes it *strict*: one request at a time, and the next only
    an interval after the end of the last. Raises ValueError.
    """

    rate: float = bounds.DOMAIN_RATE
    burst: int = bounds.DOMAIN_BURST
    min_gap_seconds: float | None = None
    """Gap that the host requests (crawl-delay); it separates the requests of all callers."""
    own_gap_seconds: float | None = None
    """The caller's own gap; like a rate or burst below the stage's, it delays no other caller."""
    breaker: BreakerLimits = field(default_factory=BreakerLimits)

    def __post_init__(self) -> None:
        gaps = (self.min_gap_seconds or 0.0, self.own_gap_seconds or 0.0)
        rests = all(0 <= gap < math.inf for gap in gaps)
        if not (0 < self.rate < math.inf and self.burst >= 1 and rests):
            raise ValueError(f"impossible pace: {self}")

    @property
    def gap_seconds(self) -> float:
        """Longer one of the gaps, or 0."""
        return max(self.min_gap_seconds or 0.0, self.own_gap_seconds or 0.0)

    @property
    def interval_ms(self) -> int:
        """Time from one request to the next after the burst, rounded up."""
        return max(math.ceil(1000 / self.rate), math.ceil(1000 * self.gap_seconds))

    @property
    def strict(self) -> bool:
        """Whether the gap applies at the server, not only between permits."""
        return self.burst == 1 or self.gap_seconds > 0

    @property
    def tolerance_ms(self) -> int:
        """Amount by which the bucket may be overdrawn: GCRA's limit tau for this burst."""
        return 0 if self.strict else (self.burst - 1) * self.interval_ms


class HostOutcome(StrEnum):
    """Information about the host from one request."""

    SUCCESS = "success"
    HOST_FAILURE = "host_failure"
    """Time-out, connection error or 5xx; counts against the breaker."""
    CLIENT_ERROR = "client_error"
    """4xx including 429: the host works."""
    NOT_TRIED = "not_tried"
    """The request never reached the host, or says nothing about it."""


class WaitReason(StrEnum):
    """Why no request to the host may be sent now."""

    PACE = "pace"
    RESERVED = "reserved"
    """The bucket has a token, but other callers have reserved it."""
    RETRY_AFTER = "retry_after"
    CIRCUIT_OPEN = "circuit_open"
    LOCK = "lock"
    THROTTLE = "throttle"


@dataclass(frozen=True)
class OwnBucket:
    """A bucket for callers slower than the host requires, in addition to the shared bucket.

    Each factor of two of the interval has its own bucket, for all tenants. A slowed caller is
    delayed by others of about the same pace, never by a much slower one, and the row stays small.
    """

    limits: PaceLimits

    @property
    def tat(self) -> str:
        """Attribute of its theoretical arrival time."""
        return f"own_tat_{self._pace}"

    @property
    def tail(self) -> str:
        """Attribute of its last slot."""
        return f"own_tail_{self._pace}"

    @property
    def holder(self) -> str:
        """Attribute of the strict request in progress."""
        return f"own_holder_{self._pace}"

    @property
    def _pace(self) -> str:
        octave = self.limits.interval_ms.bit_length()
        return f"strict_{octave}" if self.limits.strict else f"{octave}"


@dataclass(frozen=True, kw_only=True)
class PaceState:
    """Pace row of one host; every field may be absent."""

    tat: int | None = None
    """GCRA's theoretical arrival time: when the bucket is full again, minus one interval."""
    tail: int | None = None
    """Last reserved slot."""
    reserved_by: str | None = None
    next_at: int | None = None
    """End of the gap after the last strict request."""
    not_before: int | None = None
    """End of the host's Retry-After."""
    check_not_before: int | None = None
    """Like `not_before` for checks; at most CHECK_COOLDOWN_SECONDS ahead."""
    permitted_to: str | None = None
    """Token of the last permit."""
    asked_at: int | None = None
    """Time of the last permit, or of the end of the last strict request."""
    holder: str | None = None
    """Token of the strict request in progress."""
    held_until: int | None = None
    failures: int | None = None
    failed_at: int | None = None
    failed_by: str | None = None
    opened_at: int | None = None
    open_until: int | None = None
    """Present while the breaker isn't closed."""
    probe_owner: str | None = None
    probe_until: int | None = None
    own_tat: int | None = None
    """Like `tat` for the caller's own bucket; with an `own_holder`, the end of its time."""
    own_tail: int | None = None
    own_holder: str | None = None
    """Token of the strict request in progress by this bucket."""

    @classmethod
    def of(cls, row: Row, own: OwnBucket | None = None) -> Self:
        """Return the state in a row, for a caller with this own bucket."""
        if own is not None:
            stored = {"own_tat": own.tat, "own_tail": own.tail, "own_holder": own.holder}
            row = {**row, **{name: row[its] for name, its in stored.items() if its in row}}
        return cls(**fields_in(cls, row))


@dataclass(frozen=True, kw_only=True)
class PermitRequest:
    """A caller's request for a permit to send one request."""

    token: str
    """Unique to this request; it identifies a write whose response was lost."""
    now: int
    shared: PaceLimits
    """Pace that applies to all callers of this host."""
    own: OwnBucket | None
    """Present if the caller's own pace is slower."""
    breaker: BreakerLimits | None
    """None passes the breaker in every state, for a check."""
    lease_ms: int
    """Time in ms for which a caller that dies holds a strict host or a breaker's probe."""
    reserved: bool
    """Whether the caller retries at the time that it reserved."""
    port: int | None
    """None for the default port of http or https."""

    @property
    def is_check(self) -> bool:
        """Whether a check sends it; checks also wait less for a Retry-After."""
        return self.breaker is None

    @property
    def cooldown(self) -> str:
        """Field with the end of the Retry-After that applies to it."""
        return "check_not_before" if self.is_check else "not_before"


@dataclass(frozen=True, kw_only=True)
class Permit:
    """Permission to send one request; `HostRateLimiter.report` ends it."""

    host: str
    """Result of `rules.host_key`, without the port."""
    request: PermitRequest
    probe: bool
    """Whether this request is the probe of a half-open breaker."""
    seen: PaceState
    """Host's pace row after the permit."""
    health: PaceState
    """Row of breaker and Retry-After at that time; the same row for a default port."""

    @property
    def port(self) -> int | None:
        """None for the default port of http or https."""
        return self.request.port


@dataclass(frozen=True, kw_only=True)
class Wait:
    """Retry at `until`, and pass on whether that time is `reserved`."""

    until: datetime
    reason: WaitReason
    reserved: bool = False


class Circuit(StrEnum):
    """State of a breaker."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, kw_only=True)
class BreakerView:
    """A host's breaker at one time."""

    circuit: Circuit
    failures: int
    opened_at: datetime | None
    retry_after: float | None
    """Seconds until a request may pass: the probe, or after the current probe; None if closed."""


def fields_in(cls: type[Any], row: Row) -> dict[str, Any]:
    """Return the attributes of a row that are fields of the class."""
    return {each.name: row[each.name] for each in fields(cls) if each.name in row}

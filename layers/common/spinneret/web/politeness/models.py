"""Values of politeness towards a host: its pace and its breaker.

Moments inside stored states are epoch milliseconds; towards callers they are datetimes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self

from spinneret.kernel import bounds
from spinneret.web.politeness.changes import Row

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def to_ms(moment: datetime) -> int:
    """Epoch milliseconds, rounded down."""
    return (moment - _EPOCH) // _MILLISECOND


def from_ms(milliseconds: int) -> datetime:
    """The inverse of `to_ms`."""
    return _EPOCH + milliseconds * _MILLISECOND


class Record(StrEnum):
    """The rows of one host."""

    PACE = "PACE"
    SESSION = "SESSION"


@dataclass(frozen=True, kw_only=True)
class BreakerLimits:
    """After how many failures in a row a caller leaves a host alone, and for how many seconds.

    Failures older than BREAKER_MEMORY_SECONDS can't count. Raises ValueError.
    """

    threshold: int = bounds.BREAKER_FAILURES
    open_seconds: float = bounds.BREAKER_OPEN_SECONDS

    def __post_init__(self) -> None:
        longest = bounds.BREAKER_MEMORY_SECONDS
        if not (
            1 <= self.threshold <= bounds.BREAKER_FAILURES_MAX and 0 < self.open_seconds <= longest
        ):
            raise ValueError(f"impossible breaker: {self}")

    @property
    def open_ms(self) -> int:
        """`open_seconds` in milliseconds."""
        return round(1000 * self.open_seconds)


@dataclass(frozen=True, kw_only=True)
class PaceLimits:
    """How often a caller may ask a host: `rate` per second after a burst of `burst`; and a breaker.

    A gap (in seconds), or a burst of 1, makes it *strict*: one request at a time, and the next one
    only an interval after the end of the last. Raises ValueError.
    """

    rate: float = bounds.DOMAIN_RATE
    burst: int = bounds.DOMAIN_BURST
    min_gap_seconds: float | None = None
    """What the host asks for (crawl-delay): it separates the requests of all callers."""
    own_gap_seconds: float | None = None
    """The caller's own, like a rate and a burst below the stage's: it delays nobody else."""
    breaker: BreakerLimits = field(default_factory=BreakerLimits)

    def __post_init__(self) -> None:
        gaps = (self.min_gap_seconds or 0.0, self.own_gap_seconds or 0.0)
        rests = all(0 <= gap < math.inf for gap in gaps)
        if not (0 < self.rate < math.inf and self.burst >= 1 and rests):
            raise ValueError(f"impossible pace: {self}")

    @property
    def gap_seconds(self) -> float:
        """The longer one of the gaps, 0 for none."""
        return max(self.min_gap_seconds or 0.0, self.own_gap_seconds or 0.0)

    @property
    def interval_ms(self) -> int:
        """Time from one request to the next, once the burst is used; rounded up."""
        return max(math.ceil(1000 / self.rate), math.ceil(1000 * self.gap_seconds))

    @property
    def strict(self) -> bool:
        """Whether the gap holds at the server, not only between permits."""
        return self.burst == 1 or self.gap_seconds > 0

    @property
    def tolerance_ms(self) -> int:
        """How far the bucket may be overdrawn: GCRA's limit tau for this burst."""
        return 0 if self.strict else (self.burst - 1) * self.interval_ms


class Outcome(StrEnum):
    """What a request says about the host."""

    SUCCESS = "success"
    HOST_FAILURE = "host_failure"
    """Time-out, connection error or 5xx: counts against the breaker."""
    CLIENT_ERROR = "client_error"
    """4xx, 429 included: the host works."""
    NOT_TRIED = "not_tried"
    """The request never reached the host, or says nothing of it."""


class WaitReason(StrEnum):
    """Why the host may not be asked now."""

    PACE = "pace"
    RESERVED = "reserved"
    """The bucket has a token, but others have reserved it."""
    RETRY_AFTER = "retry_after"
    CIRCUIT_OPEN = "circuit_open"
    LOCK = "lock"
    THROTTLE = "throttle"


@dataclass(frozen=True)
class OwnBucket:
    """A bucket for callers that are slower than the host requires, beside the shared bucket.

    Each factor of two of the interval has its own bucket, for all tenants: a slowed caller is
    delayed by others of about the same pace, never by a much slower one, and the row stays small.
    """

    limits: PaceLimits

    @property
    def tat(self) -> str:
        """The attribute of its theoretical arrival time."""
        return f"own_tat_{self._pace}"

    @property
    def tail(self) -> str:
        """The attribute of its last slot."""
        return f"own_tail_{self._pace}"

    @property
    def holder(self) -> str:
        """The attribute of the strict request under way."""
        return f"own_holder_{self._pace}"

    @property
    def _pace(self) -> str:
        octave = self.limits.interval_ms.bit_length()
        return f"strict_{octave}" if self.limits.strict else f"{octave}"


@dataclass(frozen=True, kw_only=True)
class PaceState:
    """The pace row of one host; every field may be absent."""

    tat: int | None = None
    """GCRA's theoretical arrival time: when the bucket is full again, less one interval."""
    tail: int | None = None
    """The last reserved slot."""
    reserved_by: str | None = None
    next_at: int | None = None
    """End of the gap after the last strict request."""
    not_before: int | None = None
    """The end of the host's Retry-After."""
    check_not_before: int | None = None
    """As `not_before`, for checks, which it stops for CHECK_COOLDOWN_SECONDS at most."""
    permitted_to: str | None = None
    """The token of the last permit."""
    asked_at: int | None = None
    """The time of the last permit, or of the end of the last strict request."""
    holder: str | None = None
    """The strict request under way."""
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
    """As `tat`, of the caller's own bucket; while there is an `own_holder`, the end of its time."""
    own_tail: int | None = None
    own_holder: str | None = None
    """The strict request under way by this bucket."""

    @classmethod
    def of(cls, row: Row, own: OwnBucket | None = None) -> Self:
        """The state in a row, for a caller with this bucket of its own."""
        if own is not None:
            stored = {"own_tat": own.tat, "own_tail": own.tail, "own_holder": own.holder}
            row = {**row, **{name: row[its] for name, its in stored.items() if its in row}}
        return cls(**fields_in(cls, row))


@dataclass(frozen=True, kw_only=True)
class PermitRequest:
    """A caller asks to send one request."""

    token: str
    """Unique to this request: by it a lost answer is recognised."""
    now: int
    shared: PaceLimits
    """The pace that all callers owe this host."""
    own: OwnBucket | None
    """Present if the caller's own pace is slower."""
    breaker: BreakerLimits | None
    """None passes the breaker, whatever its state: a check."""
    lease_ms: int
    """How long a caller that dies keeps a strict host, or a breaker's probe."""
    reserved: bool
    """The caller comes back at the time that it reserved."""
    port: int | None
    """None for the usual one of http or https."""

    @property
    def is_check(self) -> bool:
        """Whether it is a check's, which also waits less for a Retry-After."""
        return self.breaker is None

    @property
    def cooldown(self) -> str:
        """The field with the end of the Retry-After that it obeys."""
        return "check_not_before" if self.is_check else "not_before"


@dataclass(frozen=True, kw_only=True)
class Permit:
    """Permission to send one request; `HostRateLimiter.report` ends it."""

    host: str
    """As `rules.host_key` answers it, without the port."""
    request: PermitRequest
    probe: bool
    """This is the one request by which a half-open breaker decides."""
    seen: PaceState
    """The host's pace row after the permit."""
    health: PaceState
    """The row of breaker and Retry-After at that time; the same row for a usual port."""

    @property
    def port(self) -> int | None:
        """None for the usual one of http or https."""
        return self.request.port


@dataclass(frozen=True, kw_only=True)
class Wait:
    """Come back at `until`, and pass on whether that time is `reserved`."""

    until: datetime
    reason: WaitReason
    reserved: bool = False


class Circuit(StrEnum):
    """Where a breaker stands."""

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
    """Seconds until a request may pass: the probe, or after the probe under way; None if closed."""


def fields_in(cls: type[Any], row: Row) -> dict[str, Any]:
    """The attributes of a row that are fields of the class."""
    return {each.name: row[each.name] for each in fields(cls) if each.name in row}

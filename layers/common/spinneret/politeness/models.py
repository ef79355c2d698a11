"""What politeness towards a host knows: its pace, its breaker, the session at it.

Moments inside stored states are epoch milliseconds; towards callers they are datetimes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self

from spinneret.kernel import limits
from spinneret.politeness.changes import Row

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


# ---------------------------------------------------------------- Pace


@dataclass(frozen=True, kw_only=True)
class PaceLimits:
    """How fast one caller may ask a host: `rate` per second after a burst of `burst`.

    A gap (crawl-delay, in seconds), or a burst of 1, makes it *strict*: one request at a time, and
    the next one only an interval after the end of the last. Raises ValueError.
    """

    rate: float = limits.DOMAIN_RATE
    burst: int = limits.DOMAIN_BURST
    min_gap_seconds: float | None = None

    def __post_init__(self) -> None:
        gap = self.min_gap_seconds or 0.0
        if not (0 < self.rate < math.inf and self.burst >= 1 and 0 <= gap < math.inf):
            raise ValueError(f"impossible pace: {self}")

    @property
    def interval_ms(self) -> int:
        """Time from one request to the next, once the burst is used; rounded up."""
        return max(math.ceil(1000 / self.rate), math.ceil(1000 * (self.min_gap_seconds or 0.0)))

    @property
    def strict(self) -> bool:
        """Whether the gap holds at the server, not only between admissions."""
        return self.burst == 1 or bool(self.min_gap_seconds)

    @property
    def tolerance_ms(self) -> int:
        """How far the bucket may be overdrawn: GCRA's limit tau for this burst."""
        return 0 if self.strict else (self.burst - 1) * self.interval_ms


@dataclass(frozen=True, kw_only=True)
class BreakerLimits:
    """When the breaker of a host opens, and for how long."""

    threshold: int = limits.BREAKER_FAILURES
    open_seconds: float = limits.BREAKER_OPEN_SECONDS

    @property
    def open_ms(self) -> int:
        """`open_seconds` in milliseconds."""
        return round(1000 * self.open_seconds)


class Outcome(StrEnum):
    """What a request says about the site."""

    SUCCESS = "success"
    SITE_FAILURE = "site_failure"
    """Time-out, connection error or 5xx: counts against the breaker."""
    CLIENT_ERROR = "client_error"
    """4xx, 429 included: the site works."""
    NOT_TRIED = "not_tried"
    """The request never reached the site through no fault of its own."""


class WaitReason(StrEnum):
    """Why the host isn't to be asked now."""

    PACE = "pace"
    PROMISED = "promised"
    """The bucket has a token, but others were promised it."""
    RETRY_AFTER = "retry_after"
    CIRCUIT_OPEN = "circuit_open"
    LOCK = "lock"
    THROTTLE = "throttle"


@dataclass(frozen=True, kw_only=True)
class PaceState:
    """The pace row of one host; every field may be absent."""

    tat: int | None = None
    """GCRA's theoretical arrival time: when the bucket is full again, less one interval."""
    tail: int | None = None
    """The last slot that was promised."""
    promised_to: str | None = None
    next_at: int | None = None
    """End of the gap after the last strict request."""
    not_before: int | None = None
    """The site's own wish (Retry-After)."""
    admitted_by: str | None = None
    asked_at: int | None = None
    """The last admission, or the end of the last strict request."""
    holder: str | None = None
    """The strict request under way."""
    held_until: int | None = None
    failures: int | None = None
    failed_at: int | None = None
    failed_by: str | None = None
    opened_at: int | None = None
    open_until: int | None = None
    """There while the breaker isn't closed."""
    probe_owner: str | None = None
    probe_until: int | None = None

    @classmethod
    def of(cls, row: Row) -> Self:
        """The state that a row holds."""
        return cls(**_fields_in(cls, row))


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One caller's wish to send one request."""

    token: str
    """Of this wish alone: by it a lost answer is recognised."""
    now: int
    limits: PaceLimits
    breaker: BreakerLimits
    hold_ms: int
    """How long a caller that dies keeps a strict host, or a breaker's probe."""
    promised: bool


@dataclass(frozen=True, kw_only=True)
class Admitted:
    """Leave to send one request; `Pace.report` ends it."""

    host: str
    token: str
    limits: PaceLimits
    breaker: BreakerLimits
    probe: bool
    """It is the one request by which a half-open breaker decides."""
    seen: PaceState
    """The host's pace as of the admission."""


@dataclass(frozen=True, kw_only=True)
class Wait:
    """Come back at `until`, and then say whether that moment was `promised`."""

    until: datetime
    reason: WaitReason
    promised: bool = False


class Circuit(StrEnum):
    """Where a breaker stands."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, kw_only=True)
class BreakerView:
    """A host's breaker at one moment."""

    circuit: Circuit
    failures: int
    opened_at: datetime | None
    retry_after: float | None
    """Seconds until a request may pass: the probe, or after the probe under way; None if closed."""


# ---------------------------------------------------------------- Sessions


@dataclass(frozen=True, kw_only=True)
class SessionState:
    """The session row of one host; every field may be absent."""

    session_id: str | None = None
    opened_by: str | None = None
    fence: int | None = None
    locked_until: int | None = None
    ended_at: int | None = None

    @classmethod
    def of(cls, row: Row) -> Self:
        """The state that a row holds."""
        return cls(**_fields_in(cls, row))


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A session under way at a host."""

    host: str
    session_id: str
    fence: int | None
    """Rises with every session of the host; None where locks are disabled."""


@dataclass(frozen=True, kw_only=True)
class SessionWait:
    """Come back at `until`, with this `attempt`."""

    until: datetime
    reason: WaitReason
    attempt: int


def _fields_in(cls: type[Any], row: Row) -> dict[str, Any]:
    return {each.name: row[each.name] for each in fields(cls) if each.name in row}

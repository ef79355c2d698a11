"""Value classes of the due index and of ticks."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class ListedTarget:
    """An entry of the due index."""

    tenant: str
    target_id: str
    host: str
    listed_at: datetime
    """Time of the next check; for a short interval the start of its step (`targets.rules`)."""
    interval_seconds: int | None
    """None in a row of an earlier version, whose `listed_at` is exact."""


@dataclass(frozen=True, kw_only=True)
class DueTarget:
    """A check to make."""

    tenant: str
    target_id: str
    host: str
    due_at: datetime
    """The check is stale if the target's next check is later than this."""
    until: datetime
    """When the check is given up, because another message will come for it."""
    paced_seconds: int | None = None
    """Seconds between two checks that the host's rate limit leaves; None for the interval."""
    reservation: str | None = None
    """Reservation in the host's rate limit by an earlier try (`WaitUntil.waiting_for`)."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """Checks of one host that begin together, one after the other."""

    at: datetime
    checks: tuple[DueTarget, ...]


@dataclass(frozen=True, kw_only=True)
class TickWindow:
    """Times of one tick."""

    since: datetime
    """End of the previous tick's window: checks due until then have been sent."""
    now: datetime
    until: datetime


@dataclass(frozen=True, kw_only=True)
class CheckTickResult:
    """Result of one tick."""

    listed: int
    """Number of entries read; incomplete if more exist than a tick reads."""
    sent: int
    """Number of checks sent; 0 if the tick was dropped."""
    messages: int
    late_seconds: float
    """Longest time in seconds that a check has certainly been due."""

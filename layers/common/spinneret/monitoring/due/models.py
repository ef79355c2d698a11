"""Value classes of the due index."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class DueTarget:
    """A target that is due for its check."""

    tenant: str
    target_id: str
    host: str
    due_at: datetime


@dataclass(frozen=True, kw_only=True)
class CheckTickResult:
    """Result of one tick."""

    due: int
    """Number of due targets found; incomplete if more exist than a tick reads."""
    handed: int
    workers: int
    """Number of lists sent; 0 if no target was due or the tick was dropped."""
    oldest_seconds: float
    """Longest time in seconds that a found target has been due."""


@dataclass(frozen=True, kw_only=True)
class Announced:
    """Result of the rule that runs every minute."""

    ticks: int

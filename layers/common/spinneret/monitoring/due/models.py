"""Values of the due index."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class DueTarget:
    """A target whose time has come."""

    tenant: str
    target_id: str
    host: str
    due_at: datetime


@dataclass(frozen=True, kw_only=True)
class CheckTickResult:
    """What one tick found and did."""

    due: int
    """Targets found; not all of them where there are more than a tick reads."""
    handed: int
    workers: int
    """Lists that were sent; 0 while all workers are at work."""
    oldest_seconds: float
    """How long the one that waits longest has waited."""


@dataclass(frozen=True, kw_only=True)
class Announced:
    """What the rule of the minute sent."""

    ticks: int

"""Values of maintenance windows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class MaintenanceWindow:
    """A time of maintenance, once or again and again."""

    tenant: str
    id: str
    name: str
    starts_at: datetime
    """Wall-clock time in `timezone`, naive."""
    duration_minutes: int
    """As long as the clock on the wall: an hour that is skipped or repeated doesn't count."""
    timezone: str
    """A name of the IANA database."""
    recurrence: str | None
    """An RRULE of RFC 5545, section 3.3.10; None for a window that comes once."""
    target_ids: tuple[str, ...]
    """Empty for all of the tenant's."""
    created_at: datetime
    updated_at: datetime
    version: int = 1
    """Goes up by one with every change."""

"""Value classes of maintenance windows."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class MaintenanceWindow:
    """A single or recurring period of maintenance."""

    tenant: str
    id: str
    name: str
    starts_at: datetime
    """Wall-clock time in `timezone`, naive."""
    duration_minutes: int
    """Duration by the wall clock: skipped or repeated hours don't count."""
    timezone: str
    """Name of a time zone in the IANA database."""
    recurrence: str | None
    """An RRULE of RFC 5545, section 3.3.10; None for a single window."""
    target_ids: tuple[str, ...]
    """Empty for all of the tenant's targets."""
    created_at: datetime
    updated_at: datetime
    version: int = 1
    """Incremented by every change."""

"""Value classes of notices."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final


class NoticeKind(StrEnum):
    """Kind of a notice."""

    INCIDENT = "incident"
    MAINTENANCE = "maintenance"


class NoticeStatus(StrEnum):
    """Status of a notice: the first four of an incident, the others of maintenance."""

    INVESTIGATING = "investigating"
    IDENTIFIED = "identified"
    MONITORING = "monitoring"
    RESOLVED = "resolved"
    SCHEDULED = "scheduled"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


STATUSES: Final = {
    NoticeKind.INCIDENT: (
        NoticeStatus.INVESTIGATING,
        NoticeStatus.IDENTIFIED,
        NoticeStatus.MONITORING,
        NoticeStatus.RESOLVED,
    ),
    NoticeKind.MAINTENANCE: (
        NoticeStatus.SCHEDULED,
        NoticeStatus.IN_PROGRESS,
        NoticeStatus.COMPLETED,
    ),
}
"""Statuses of each kind; the last one ends a notice."""


@dataclass(frozen=True, kw_only=True)
class NoticeUpdate:
    """An update of a notice."""

    at: datetime
    status: NoticeStatus
    text: str


@dataclass(frozen=True, kw_only=True)
class Notice:
    """A posted incident or maintenance."""

    tenant: str
    id: str
    """Ids sort by time."""
    kind: NoticeKind
    title: str
    slugs: tuple[str, ...]
    """Pages that show it; empty for all of the tenant's."""
    starts_at: datetime | None
    """Announced begin of maintenance; None for an incident."""
    ends_at: datetime | None
    """Announced end of maintenance; None for an incident."""
    updates: tuple[NoticeUpdate, ...]
    """One or more updates, oldest first."""
    version: int = 1
    """Incremented by every change."""

    @property
    def status(self) -> NoticeStatus:
        """Status of the last update."""
        return self.updates[-1].status

    @property
    def created_at(self) -> datetime:
        """Time of the first update."""
        return self.updates[0].at

    @property
    def updated_at(self) -> datetime:
        """Time of the last update."""
        return self.updates[-1].at

    @property
    def is_over(self) -> bool:
        """Whether it is resolved or completed."""
        return self.status is STATUSES[self.kind][-1]

    def is_on(self, slug: str) -> bool:
        """Return whether a page shows it."""
        return not self.slugs or slug in self.slugs

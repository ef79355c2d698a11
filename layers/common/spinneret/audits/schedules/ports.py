"""Ports of scheduled audits."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from spinneret.audits.schedules.models import AuditSchedule
from spinneret.kernel.paging import Page


class ScheduleStore(Protocol):
    """Schedules by tenant and id. Methods raise DependencyUnavailable."""

    def add(self, schedule: AuditSchedule) -> None:
        """Store a new schedule."""
        ...

    def get(self, tenant: str, schedule_id: str) -> AuditSchedule | None:
        """Return the schedule (consistent read)."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[AuditSchedule]:
        """Return up to `limit` schedules with ids before `after`, newest first."""
        ...

    def replace(self, former: AuditSchedule, schedule: AuditSchedule) -> bool:
        """Replace `former` by `schedule`; return False if it changed meanwhile."""
        ...

    def remove(self, schedule: AuditSchedule) -> bool:
        """Remove a schedule; return False if it changed meanwhile."""
        ...

    def due(self, now: datetime, limit: int) -> list[AuditSchedule]:
        """Return due schedules of all tenants (consistent read).

        They are roughly ordered by time. A schedule that has just changed may be missing or
        repeated.
        """
        ...

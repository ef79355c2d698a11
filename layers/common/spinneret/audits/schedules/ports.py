"""What scheduled audits need from outside."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from spinneret.audits.schedules.models import AuditSchedule
from spinneret.kernel.paging import Page


class ScheduleStore(Protocol):
    """Schedules by tenant and id. Raises DependencyUnavailable."""

    def add(self, schedule: AuditSchedule) -> None:
        """Store a new one."""
        ...

    def get(self, tenant: str, schedule_id: str) -> AuditSchedule | None:
        """The schedule as it stands."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[AuditSchedule]:
        """Up to `limit` schedules with ids before `after`, newest first."""
        ...

    def replace(self, former: AuditSchedule, schedule: AuditSchedule) -> bool:
        """Write `schedule` over `former`; False when that isn't what stands any more."""
        ...

    def remove(self, schedule: AuditSchedule) -> bool:
        """Remove it; False when it isn't what stands any more."""
        ...

    def due(self, now: datetime, limit: int) -> list[AuditSchedule]:
        """Schedules of all tenants whose next run isn't in the future, as they stand.

        About the oldest first; one that has just changed may be missing or come again.
        """
        ...

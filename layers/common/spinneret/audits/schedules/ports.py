"""Ports of scheduled audits."""

from datetime import datetime
from typing import Protocol

from spinneret.audits.schedules.models import AuditSchedule, ScheduleRef
from spinneret.kernel.rows import RowStore


class ScheduleStore(RowStore[AuditSchedule], Protocol):
    """Schedules, which have no names."""

    def due(self, now: datetime, limit: int) -> list[ScheduleRef]:
        """Return due schedules of all tenants, roughly ordered by time.

        A schedule that has just changed may be missing, or no longer due.
        """

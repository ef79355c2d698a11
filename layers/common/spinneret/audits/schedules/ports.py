"""Ports of scheduled audits."""

from datetime import datetime
from typing import Protocol

from spinneret.audits.schedules.models import AuditSchedule
from spinneret.kernel.rows import RowStore


class ScheduleStore(RowStore[AuditSchedule], Protocol):
    """Schedules, which have no names."""

    def due(self, now: datetime, limit: int) -> list[AuditSchedule]:
        """Return due schedules of all tenants (consistent read).

        They are roughly ordered by time. A schedule that has just changed may be missing or
        repeated.
        """

"""Ports of figures."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from spinneret.monitoring.rollups.models import DayTally, HourTally


class RollupStore(Protocol):
    """Figures by tenant and target; checks write them. Raises DependencyUnavailable."""

    def hours(self, tenant: str, target_id: str, since: datetime) -> Sequence[HourTally]:
        """Return the figures of completed hours from `since` on, oldest first."""

    def days(self, tenant: str, target_id: str, since: datetime) -> Sequence[DayTally]:
        """Return the figures of days from `since` on, oldest first; only completed hours count."""

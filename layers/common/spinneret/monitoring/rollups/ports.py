"""Ports of figures."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Protocol

from spinneret.monitoring.rollups.models import DayTally, HourTally


class RollupStore(Protocol):
    """Figures by tenant and target; checks write them. Raises DependencyUnavailable."""

    def hours(self, tenant: str, target_id: str, since: datetime) -> Sequence[HourTally]:
        """Return the figures of completed hours from `since` on, oldest first."""

    def days(self, tenant: str, target_id: str, since: datetime) -> Sequence[DayTally]:
        """Return the figures of days from `since` on, oldest first; only completed hours count."""

    def checks(self, tenant: str, since: date) -> Mapping[date, int]:
        """Return the checks of all targets by day, from `since` on; only completed hours count.

        Eventually consistent. Checks of removed targets remain for 40 days.
        """

"""What figures need from outside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from spinneret.monitoring.rollups.models import DayTally, HourTally


class RollupStore(Protocol):
    """Figures by tenant and target, written with checks. Raises DependencyUnavailable."""

    def hours(self, tenant: str, target_id: str, since: datetime) -> Sequence[HourTally]:
        """Of the hours that are over, from this one on, oldest first."""
        ...

    def days(self, tenant: str, target_id: str, since: datetime) -> Sequence[DayTally]:
        """Of the days with hours that are over, from this one on, oldest first."""
        ...

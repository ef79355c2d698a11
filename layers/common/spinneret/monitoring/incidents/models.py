"""Values of incidents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from spinneret.monitoring.rollups.models import HourTally
from spinneret.monitoring.targets.models import Status, TargetState


@dataclass(frozen=True, kw_only=True)
class TimelineEntry:
    """A line of an incident's timeline."""

    at: datetime
    status: Status
    message: str


@dataclass(frozen=True, kw_only=True)
class Incident:
    """A time in which a target wasn't up."""

    id: str
    started_at: datetime
    """The first of the checks that showed it."""
    ended_at: datetime | None
    """The check that confirmed its end; None while it lasts."""
    status: Status
    """As it is now; `up` once it is over."""
    timeline: tuple[TimelineEntry, ...]


@dataclass(frozen=True, kw_only=True)
class IncidentChange:
    """What a check adds to an incident."""

    id: str
    started_at: datetime
    is_new: bool
    status: Status
    ended_at: datetime | None
    entry: TimelineEntry | None
    """None where the timeline is full."""


@dataclass(frozen=True)
class Report:
    """A domain event to be."""

    type: str
    data: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class StateChange:
    """What a check changes."""

    state: TargetState
    incident: IncidentChange | None = None
    reports: tuple[Report, ...] = ()
    closed: tuple[HourTally, ...] = ()
    """Hours that are over, to be kept."""
    is_skip: bool = False

    @property
    def event_sequence(self) -> int:
        """Of its domain events: a skip comes after the check whose sequence it has left."""
        return 2 * self.state.sequence + self.is_skip

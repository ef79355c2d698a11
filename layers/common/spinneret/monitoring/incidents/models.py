"""Value classes of incidents."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from spinneret.monitoring.rollups.models import HourTally
from spinneret.monitoring.targets.models import TargetState


class IncidentStatus(StrEnum):
    """Status of an incident; the first two last, the others end it."""

    DEGRADED = "degraded"
    DOWN = "down"
    UP = "up"
    PAUSED = "paused"
    """The owner paused the target."""


@dataclass(frozen=True, kw_only=True)
class TimelineEntry:
    """An entry of an incident's timeline."""

    at: datetime
    status: IncidentStatus
    message: str


@dataclass(frozen=True, kw_only=True)
class Incident:
    """A period in which a target wasn't up."""

    id: str
    started_at: datetime
    """Time of the first check that showed the trouble."""
    ended_at: datetime | None
    """Time of the check that confirmed the end, or of the pause; None while it lasts."""
    status: IncidentStatus
    timeline: tuple[TimelineEntry, ...]


@dataclass(frozen=True, kw_only=True)
class IncidentChange:
    """Changes that a check or a pause makes to an incident."""

    id: str
    started_at: datetime
    status: IncidentStatus
    ended_at: datetime | None
    entry: TimelineEntry | None
    """None if the timeline is full."""


@dataclass(frozen=True)
class EventDraft:
    """Draft of a domain event."""

    type: str
    data: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class StateChange:
    """All changes that result from a check."""

    state: TargetState
    incident: IncidentChange | None = None
    reports: tuple[EventDraft, ...] = ()
    closed: tuple[HourTally, ...] = ()
    """Figures of completed hours, to be stored."""
    is_skip: bool = False

    def with_state(self, **fields: Any) -> Self:
        """Return the changes with other fields of the state."""
        return replace(self, state=replace(self.state, **fields))

    @property
    def event_sequence(self) -> int:
        """Sequence of the domain events: a skip sorts after the check whose sequence it keeps."""
        return 2 * self.state.sequence + self.is_skip

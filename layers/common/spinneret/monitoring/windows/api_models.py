"""Requests and responses of maintenance windows."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import ValidationFailed
from spinneret.kernel.views import ListOf
from spinneret.monitoring import limits
from spinneret.monitoring.windows.models import MaintenanceWindow
from spinneret.monitoring.windows.service import WindowTimes

Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=limits.TARGET_NAME_MAX_CHARS),
]
TargetId = Annotated[str, StringConstraints(min_length=1, max_length=80)]


class WindowRequest(BaseModel):
    """A new or changed window; a PUT replaces all fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    """Name for people."""
    starts_at: Annotated[str, StringConstraints(max_length=40)]
    """Wall-clock time in `timezone`, such as 2026-03-29T02:30."""
    duration_minutes: Annotated[int, Field(ge=1, le=limits.WINDOW_MINUTES_MAX)]
    timezone: Annotated[str, StringConstraints(max_length=100)] = "UTC"
    recurrence: Annotated[str, StringConstraints(max_length=limits.RECURRENCE_MAX_CHARS)] | None = (
        None
    )
    """RRULE of RFC 5545, such as FREQ=WEEKLY;BYDAY=SU; without it the window doesn't recur."""
    target_ids: Annotated[list[TargetId], Field(max_length=limits.WINDOW_TARGETS_MAX)] = Field(
        default_factory=list
    )
    """Affected targets; an empty list means all."""


class WindowView(BaseModel):
    """A maintenance window."""

    id: str
    """Id of the window."""
    name: str
    """Name for people."""
    starts_at: str
    """Begin as wall-clock time in `timezone`."""
    duration_minutes: int
    timezone: str
    recurrence: str | None
    """Rule of repetition (RFC 5545); null for a single window."""
    target_ids: list[str]
    """Ids of the targets; an empty list for all."""
    created_at: str
    updated_at: str


class WindowList(ListOf[WindowView]):
    """A page of windows, oldest first."""


def times_of(request: WindowRequest) -> WindowTimes:
    """Return the window that a request describes. Raises ValidationFailed."""
    try:
        starts_at = datetime.fromisoformat(request.starts_at)
    except ValueError:
        raise ValidationFailed.of_field(
            "starts_at", "starts_at isn't a wall-clock time", "write it as 2026-03-29T02:30"
        ) from None
    return WindowTimes(
        name=request.name,
        starts_at=starts_at,
        duration_minutes=request.duration_minutes,
        timezone=request.timezone,
        recurrence=request.recurrence,
        target_ids=tuple(request.target_ids),
    )


def window_view(window: MaintenanceWindow) -> WindowView:
    """Return the view of a window."""
    return WindowView(
        id=window.id,
        name=window.name,
        starts_at=window.starts_at.isoformat(),
        duration_minutes=window.duration_minutes,
        timezone=window.timezone,
        recurrence=window.recurrence,
        target_ids=list(window.target_ids),
        created_at=to_iso(window.created_at),
        updated_at=to_iso(window.updated_at),
    )

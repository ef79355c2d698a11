"""Requests and responses of maintenance windows."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from spinneret.kernel.errors import ValidationFailed
from spinneret.kernel.views import ListOf, Timestamp, View
from spinneret.monitoring import limits
from spinneret.monitoring.windows.service import WindowDraft

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
    """Affected targets; an empty list means all. An unknown id is rejected."""


class WindowView(View):
    """A maintenance window."""

    id: str
    """Id of the window."""
    name: str
    """Name for people."""
    starts_at: Annotated[str, BeforeValidator(datetime.isoformat)]
    """Begin as wall-clock time in `timezone`."""
    duration_minutes: int
    timezone: str
    recurrence: str | None
    """Rule of repetition (RFC 5545); null for a single window."""
    target_ids: list[str]
    """Ids of the targets; an empty list for all."""
    created_at: Timestamp
    updated_at: Timestamp


class WindowList(ListOf[WindowView]):
    """A page of windows, oldest first."""


def draft_of(request: WindowRequest) -> WindowDraft:
    """Return the window that a request describes. Raises ValidationFailed."""
    try:
        starts_at = datetime.fromisoformat(request.starts_at)
    except ValueError:
        raise ValidationFailed.of_field(
            "starts_at", "starts_at isn't a wall-clock time", "write it as 2026-03-29T02:30"
        ) from None
    given = {"starts_at": starts_at, "target_ids": tuple(request.target_ids)}
    return WindowDraft(**{**vars(request), **given})

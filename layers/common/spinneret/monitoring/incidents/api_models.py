"""Answers about incidents."""

from __future__ import annotations

from pydantic import BaseModel

from spinneret.kernel.clock import optional_stamp, stamp
from spinneret.kernel.paging import cursor_of
from spinneret.monitoring.incidents.models import Incident, IncidentPage
from spinneret.monitoring.targets.models import Status


class EntryView(BaseModel):
    """A line of a timeline."""

    at: str
    status: Status
    message: str


class IncidentView(BaseModel):
    """A time in which a target wasn't up."""

    id: str
    started_at: str
    ended_at: str | None
    status: Status
    timeline: list[EntryView]


class IncidentList(BaseModel):
    """A page of incidents, newest first."""

    items: list[IncidentView]
    next_cursor: str | None
    has_more: bool


def incident_list(page: IncidentPage) -> IncidentList:
    """A page as its tenant sees it."""
    return IncidentList(
        items=[_view(each) for each in page.incidents],
        next_cursor=cursor_of(page.after),
        has_more=page.after is not None,
    )


def _view(incident: Incident) -> IncidentView:
    return IncidentView(
        id=incident.id,
        started_at=stamp(incident.started_at),
        ended_at=optional_stamp(incident.ended_at),
        status=incident.status,
        timeline=[
            EntryView(at=stamp(each.at), status=each.status, message=each.message)
            for each in incident.timeline
        ],
    )

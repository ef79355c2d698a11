"""Responses about incidents."""

from __future__ import annotations

from pydantic import BaseModel

from spinneret.kernel.clock import optional_stamp, to_iso
from spinneret.kernel.paging import Page
from spinneret.kernel.views import ListOf
from spinneret.monitoring.incidents.models import Incident
from spinneret.monitoring.targets.models import Status


class EntryView(BaseModel):
    """One entry of a timeline."""

    at: str
    status: Status
    message: str


class IncidentView(BaseModel):
    """A period in which a target wasn't up."""

    id: str
    started_at: str
    ended_at: str | None
    status: Status
    timeline: list[EntryView]


class IncidentList(ListOf[IncidentView]):
    """A page of incidents, newest first."""


def incident_list(page: Page[Incident]) -> IncidentList:
    """Return the view of a page."""
    return IncidentList.page(page, _view)


def _view(incident: Incident) -> IncidentView:
    return IncidentView(
        id=incident.id,
        started_at=to_iso(incident.started_at),
        ended_at=optional_stamp(incident.ended_at),
        status=incident.status,
        timeline=[
            EntryView(at=to_iso(each.at), status=each.status, message=each.message)
            for each in incident.timeline
        ],
    )

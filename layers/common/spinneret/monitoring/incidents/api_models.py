"""Responses about incidents."""

from __future__ import annotations

from spinneret.kernel.paging import Page
from spinneret.kernel.views import ListOf, Timestamp, View
from spinneret.monitoring.incidents.models import Incident, IncidentStatus


class EntryView(View):
    """One entry of a timeline."""

    at: Timestamp
    status: IncidentStatus
    message: str


class IncidentView(View):
    """A period in which a target wasn't up."""

    id: str
    started_at: Timestamp
    ended_at: Timestamp | None
    status: IncidentStatus
    timeline: list[EntryView]


class IncidentList(ListOf[IncidentView]):
    """A page of incidents, newest first."""


def incident_list(page: Page[Incident]) -> IncidentList:
    """Return the view of a page."""
    return IncidentList.page(page, IncidentView.of)

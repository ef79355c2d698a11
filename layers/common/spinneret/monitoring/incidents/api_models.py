"""Responses about incidents."""

from spinneret.kernel.views import ListOf, Timestamp, View
from spinneret.monitoring.incidents.models import IncidentStatus


class EntryView(View):
    """One entry of a timeline."""

    at: Timestamp
    """Time of the entry (RFC 3339, UTC)."""
    status: IncidentStatus
    """State of the incident from then on."""
    message: str
    """Entry for people."""


class IncidentView(View):
    """A period in which a target wasn't up."""

    id: str
    """Id of the incident."""
    started_at: Timestamp
    """Time of the first failed check (RFC 3339, UTC)."""
    ended_at: Timestamp | None
    """Time of the recovery (RFC 3339, UTC); null while it lasts."""
    status: IncidentStatus
    """State of the incident."""
    timeline: list[EntryView]
    """Changes of the incident, oldest first."""


class IncidentList(ListOf[IncidentView]):
    """A page of incidents, newest first."""

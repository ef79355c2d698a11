"""Ports of incidents."""

from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.monitoring.incidents.models import Incident


class IncidentStore(Protocol):
    """Incidents by tenant and target; checks write them."""

    def page(self, tenant: str, target_id: str, after: str | None, limit: int) -> Page[Incident]:
        """Return incidents after a position, newest first. Raises DependencyUnavailable."""

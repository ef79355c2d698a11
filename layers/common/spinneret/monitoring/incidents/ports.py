"""What incidents need from outside."""

from __future__ import annotations

from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.monitoring.incidents.models import Incident


class IncidentStore(Protocol):
    """Incidents by tenant and target, written with the checks that show them."""

    def page(self, tenant: str, target_id: str, after: str | None, limit: int) -> Page[Incident]:
        """Newest first, behind a position. Raises DependencyUnavailable."""
        ...

"""Incidents of a target for a window of time."""

from __future__ import annotations

from spinneret.kernel.clock import Clock
from spinneret.monitoring.incidents.models import IncidentPage
from spinneret.monitoring.incidents.ports import IncidentStore
from spinneret.monitoring.rollups.models import Window
from spinneret.monitoring.rollups.rules import begin_of


class IncidentService:
    """Raises DependencyUnavailable."""

    def __init__(self, *, store: IncidentStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def page(
        self, tenant: str, target_id: str, window: Window | None, after: str | None, limit: int
    ) -> IncidentPage:
        """Up to `limit` incidents, newest first, behind a position; with a window, those that
        lasted into it, which begins where its figures do."""
        page = self._store.page(tenant, target_id, after, limit)
        return page if window is None else page.since(begin_of(window, self._clock()))

"""Incidents of a target for a window of time."""

from datetime import datetime
from itertools import takewhile

from spinneret.kernel.clock import Clock
from spinneret.kernel.paging import Page
from spinneret.kernel.service import service
from spinneret.monitoring.incidents.models import Incident
from spinneret.monitoring.incidents.ports import IncidentStore
from spinneret.monitoring.rollups.models import Window
from spinneret.monitoring.rollups.rules import begin_of


@service
class IncidentService:
    """Reads a target's incidents. Raises DependencyUnavailable."""

    store: IncidentStore
    clock: Clock

    def page(
        self, tenant: str, target_id: str, window: Window | None, after: str | None, limit: int
    ) -> Page[Incident]:
        """Return up to `limit` incidents after a position, newest first.

        With a window, only incidents that lasted into it; it begins where its figures begin.
        """
        page = self.store.page(tenant, target_id, after, limit)
        return page if window is None else _since(page, begin_of(window, self.clock()))


def _since(page: Page[Incident], moment: datetime) -> Page[Incident]:
    """Return the incidents that ended after `moment` or last.

    A target's incidents don't overlap, so all incidents after the first that ended earlier did too.
    """
    kept = tuple(takewhile(lambda each: (each.ended_at or moment) >= moment, page.items))
    return page if kept == page.items else Page(items=kept, after=None)

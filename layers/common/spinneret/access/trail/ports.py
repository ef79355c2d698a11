"""Ports of the audit trail."""

from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.outbox.models import DomainEvent


class Trail(Protocol):
    """Events of a tenant's accounts. Methods raise DependencyUnavailable.

    Events of a change are stored in its transaction, not by this port.
    """

    def record(self, event: DomainEvent, *, known: bool) -> None:
        """Store an event without a change; for an unknown account only take as long."""

    def page(self, tenant: str, after: str | None, limit: int) -> Page[DomainEvent]:
        """Return up to `limit` events before `after`, newest first."""

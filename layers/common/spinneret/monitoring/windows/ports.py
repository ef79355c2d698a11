"""Ports of maintenance windows."""

from typing import Protocol

from spinneret.kernel.rows import RowStore
from spinneret.monitoring.windows.models import MaintenanceWindow


class WindowStore(RowStore[MaintenanceWindow], Protocol):
    """Windows, whose names aren't unique."""

    def all(self, tenant: str) -> list[MaintenanceWindow]:
        """Return all windows of a tenant, oldest first; at most WINDOWS_MAX."""

"""Ports of maintenance windows."""

from typing import Protocol

from spinneret.monitoring.windows.models import MaintenanceWindow


class WindowStore(Protocol):
    """Windows by tenant and id. Raises DependencyUnavailable."""

    def all(self, tenant: str) -> list[MaintenanceWindow]:
        """Return all windows of a tenant, oldest first; at most WINDOWS_MAX."""

    def get(self, tenant: str, window_id: str) -> MaintenanceWindow | None:
        """Return the window (consistent read); None if it doesn't exist."""

    def put(self, window: MaintenanceWindow, former: MaintenanceWindow | None) -> bool:
        """Replace `former` by `window`, or create it; return False if it changed meanwhile."""

    def remove(self, window: MaintenanceWindow) -> bool:
        """Remove the window; return False if it changed meanwhile."""

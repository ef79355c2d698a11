"""What maintenance windows need from outside."""

from __future__ import annotations

from typing import Protocol

from spinneret.monitoring.windows.models import MaintenanceWindow


class WindowStore(Protocol):
    """Windows by tenant and id. Raises DependencyUnavailable."""

    def all(self, tenant: str) -> list[MaintenanceWindow]:
        """All of a tenant's, oldest first; WINDOWS_MAX at most."""
        ...

    def get(self, tenant: str, window_id: str) -> MaintenanceWindow | None:
        """The window as it stands."""
        ...

    def put(self, window: MaintenanceWindow, former: MaintenanceWindow | None) -> bool:
        """Write it over `former`, or anew; False when that isn't what stands any more."""
        ...

    def remove(self, window: MaintenanceWindow) -> bool:
        """Remove it; False when it isn't what stands any more."""
        ...

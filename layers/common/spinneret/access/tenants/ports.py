"""Ports of the tenants' service."""

from datetime import datetime
from typing import Protocol

from spinneret.access.tenants.models import Tenant


class TenantStore(Protocol):
    """Rows of tenants and of their credentials. Methods raise DependencyUnavailable."""

    def get(self, name: str) -> Tenant | None:
        """Return the tenant, or None if it has no row."""

    def is_known(self, name: str) -> bool:
        """Return whether the tenant has a row, or ever had keys or people."""

    def add(self, tenant: Tenant) -> bool:
        """Store a new tenant; return False if it has a row."""

    def put(self, tenant: Tenant) -> None:
        """Store the tenant's state."""

    def mark(self, name: str, reason: str | None) -> None:
        """Write the reason to all credentials, which are then refused; None removes it.

        While there is a reason, new keys and users are refused, too. It may be repeated.
        """

    def forget(self, name: str) -> None:
        """Delete the tenant's row; no-op without one."""


class WorkHolds(Protocol):
    """Holds of tenants' work. Methods raise DependencyUnavailable."""

    def hold(self, tenant: str, since: datetime) -> None:
        """Hold the tenant's jobs and checks from now on."""

    def release(self, tenant: str) -> None:
        """Release them; no-op if they aren't on hold."""

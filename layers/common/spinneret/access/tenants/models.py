"""Tenants."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class TenantState(StrEnum):
    """State of a tenant."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    """Its credentials are refused, and its work waits."""
    DELETING = "deleting"
    """Suspended for good, while its data are deleted."""


@dataclass(frozen=True, kw_only=True)
class Tenant:
    """A tenant as its operator manages it; one that was never managed has no row."""

    name: str
    state: TenantState = TenantState.ACTIVE
    reason: str | None = None
    """Reason for which its credentials are refused; None if they aren't."""
    created_at: datetime
    since: datetime
    """Time of the last change of state."""

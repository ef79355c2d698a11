"""Values of the clean-up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Expired:
    """An object whose retention is over, and the row that says so."""

    row: tuple[str, str]
    """Partition and sort key."""
    storage_uri: str
    retention_until: datetime
    refusals: int = 0
    """How often the bucket has refused to delete the object."""


@dataclass(frozen=True, kw_only=True)
class CleanupResult:
    """What one pass did."""

    enabled: bool = True
    dry_run: bool = False
    found: int = 0
    deleted: int = 0
    failed: int = 0
    """Left for a later pass."""

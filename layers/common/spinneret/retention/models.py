"""Values of the clean-up."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Expired:
    """An expired object and its expiry row."""

    row: tuple[str, str]
    """Partition and sort key."""
    storage_uri: str
    retention_until: datetime
    refusals: int = 0
    """Number of times that the bucket refused to delete the object."""


@dataclass(frozen=True, kw_only=True)
class CleanupResult:
    """Result of one pass."""

    enabled: bool = True
    dry_run: bool = False
    found: int = 0
    deleted: int = 0
    failed: int = 0
    """Number of objects left for a later pass."""

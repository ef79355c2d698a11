"""What discoveries need from outside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from spinneret.discovery.models import FoundPage, FoundUrl
from spinneret.jobs.models import JobRef, Lease


class DiscoveryStore(Protocol):
    """What discoveries found, and how far those under way have come.

    Kept for DISCOVERY_RETENTION_SECONDS. All methods raise DependencyUnavailable.
    """

    def keep_state(self, lease: Lease, run: int, state: str, now: datetime) -> None:
        """Store a text in place of the one before; raises LeaseLost."""
        ...

    def state(self, ref: JobRef, run: int) -> str | None:
        """The text that was kept last in this run."""
        ...

    def keep_found(self, lease: Lease, found: Sequence[FoundUrl], now: datetime) -> None:
        """Store the result, at most DISCOVERY_URLS_MAX URLs, at once; raises LeaseLost."""
        ...

    def page(self, ref: JobRef, after: int, limit: int) -> FoundPage:
        """Up to `limit` URLs of the result behind the first `after` ones."""
        ...

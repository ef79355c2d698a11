"""Ports of discoveries."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from spinneret.discovery.models import FoundPage, FoundUrl
from spinneret.jobs.models import JobRef, Lease


class DiscoveryStore(Protocol):
    """Results of discoveries, and the progress of unfinished ones.

    Kept for JOB_ROWS_SECONDS after their last write. All methods raise DependencyUnavailable.
    """

    def keep_state(self, lease: Lease, run: int, state: str, now: datetime) -> None:
        """Store the progress, replacing the previous one. Raises LeaseLost."""

    def state(self, ref: JobRef, run: int) -> str | None:
        """Return the progress that was last stored in this run, or None."""

    def keep_found(self, lease: Lease, found: Sequence[FoundUrl], now: datetime) -> None:
        """Store the result, at most DISCOVERY_URLS_MAX URLs, at once. Raises LeaseLost."""

    def page(self, ref: JobRef, after: int, limit: int) -> FoundPage:
        """Return up to `limit` URLs of the result after the first `after` ones."""

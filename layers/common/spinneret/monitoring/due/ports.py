"""Ports of ticks."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from spinneret.monitoring.due.models import ListedTarget, Planned


class DueIndex(Protocol):
    """Targets by the time of their next check. Raises DependencyUnavailable."""

    def due(
        self, shard: int, until: datetime, since: datetime | None = None
    ) -> Iterator[ListedTarget]:
        """Yield the entries of a shard that are listed at `until` or before, earliest first.

        With `since`, earlier entries are left out. Pages are read on demand.
        """

    def sent_until(self) -> datetime | None:
        """Return the end of the last tick's window; None before the first tick."""

    def keep_sent(self, until: datetime) -> None:
        """Store the end of a tick's window."""


class CheckLane(Protocol):
    """Queue of checks. A message may arrive twice or never. Raises DependencyUnavailable."""

    def send(self, planned: Sequence[Planned]) -> None:
        """Send each as a message that arrives at its time, up to a second later."""

"""What ticks need from outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from spinneret.monitoring.due.models import DueTarget


class DueIndex(Protocol):
    """Targets by the time of their next check. Raises DependencyUnavailable."""

    def due(self, shard: int, now: datetime, since: datetime | None = None) -> Iterator[DueTarget]:
        """The targets of a shard that are due at `now`, longest waiting first; with `since`, those
        that have been due since then at most. They are read as they are taken."""
        ...


class CheckLanes(Protocol):
    """The queues of ticks and of checks. A message is a hint; it may come twice, or not at all.

    Raises DependencyUnavailable.
    """

    def announce(self, at: datetime, delays: Sequence[int]) -> None:
        """Send ticks that come so many seconds after `at`."""
        ...

    def hand(self, ticked_at: datetime, targets: Sequence[DueTarget]) -> None:
        """Send a list to a worker."""
        ...

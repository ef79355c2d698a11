"""Ports of ticks."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from spinneret.monitoring.due.models import DueTarget


class DueIndex(Protocol):
    """Targets by the time of their next check. Raises DependencyUnavailable."""

    def due(self, shard: int, now: datetime, since: datetime | None = None) -> Iterator[DueTarget]:
        """Yield the targets of a shard that are due at `now`, longest waiting first.

        With `since`, targets that became due earlier are left out. Pages are read on demand.
        """


class CheckLanes(Protocol):
    """Queues of ticks and of checks.

    A message is a hint; it may arrive twice or never. Raises DependencyUnavailable.
    """

    def announce(self, at: datetime, delays: Sequence[int]) -> None:
        """Send ticks that arrive `delays` seconds after `at`."""

    def hand(self, ticked_at: datetime, targets: Sequence[DueTarget]) -> None:
        """Send a list of targets to a worker."""

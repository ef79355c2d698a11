"""Ports of politeness."""

from dataclasses import dataclass
from typing import Protocol

from spinneret.web.politeness.changes import ConditionalUpdate, Row
from spinneret.web.politeness.models import Record
from spinneret.web.politeness.robots_policy import StoredRobots


@dataclass(frozen=True)
class Written:
    """The update succeeded; holds the new row."""

    row: Row


@dataclass(frozen=True)
class Refused:
    """A condition failed; holds the unchanged row."""

    row: Row


class HostStateStore(Protocol):
    """One row per host and record, shared by all tenants, workers and functions.

    `host` may include an unusual port, see `rules.health_key`. The client may repeat a change whose
    response was lost, after the first attempt succeeded. So every change must be harmless twice, or
    guarded by a token that it writes. Both methods raise DependencyUnavailable when the ledger
    doesn't respond.
    """

    def read(self, host: str, record: Record) -> Row:
        """Read the row consistently; return an empty one if missing."""

    def update(self, host: str, record: Record, change: ConditionalUpdate) -> Written | Refused:
        """Apply a change to the row, or to an empty one, in one operation."""


class RobotsStore(Protocol):
    """Last robots.txt of each origin. Methods raise DependencyUnavailable."""

    def find(self, origin: str) -> StoredRobots | None:
        """Return the last stored robots.txt, or None."""

    def keep(self, origin: str, kept: StoredRobots) -> None:
        """Replace the stored robots.txt; of two concurrent calls, either may win."""

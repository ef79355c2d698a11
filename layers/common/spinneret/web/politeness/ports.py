"""The ports of politeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from spinneret.web.politeness.changes import ConditionalUpdate, Row
from spinneret.web.politeness.models import Record
from spinneret.web.politeness.robots_policy import StoredRobots


@dataclass(frozen=True)
class Written:
    """The change happened; the row as it now is."""

    row: Row


@dataclass(frozen=True)
class Refused:
    """A guard didn't hold; the row, unchanged."""

    row: Row


class HostStateStore(Protocol):
    """One row per host and record, shared by all tenants, workers and functions.

    `host` may name an unusual port too, see `rules.health_key`.
    A change whose answer was lost may be tried again by the client itself, and then meets its own
    first try: every change must be harmless twice, or guarded by a token that it writes.
    Both methods raise DependencyUnavailable when the ledger doesn't answer.
    """

    def read(self, host: str, record: Record) -> Row:
        """The row, consistently; empty where there is none."""
        ...

    def update(self, host: str, record: Record, change: ConditionalUpdate) -> Written | Refused:
        """Carry out a change on the row, or on an empty one; one operation."""
        ...


class RobotsStore(Protocol):
    """The last robots.txt of each origin. Raises DependencyUnavailable."""

    def find(self, origin: str) -> StoredRobots | None:
        """The robots.txt that was kept last."""
        ...

    def keep(self, origin: str, kept: StoredRobots) -> None:
        """Replace it; of two at once, either may stay."""
        ...

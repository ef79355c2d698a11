"""What slots need from outside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from spinneret.monitoring.slots.models import SlotLease


class SlotStore(Protocol):
    """Slots by name, each operation atomic. Raises DependencyUnavailable.

    A call whose answer was lost may be repeated: it meets its own owner.
    """

    def take(self, name: str, owner: str, now: datetime, until: datetime) -> SlotLease | None:
        """The slot, if nobody else has it at `now`."""
        ...

    def renew(self, slot: SlotLease, until: datetime) -> SlotLease | None:
        """The slot with a later end; None if it was lost."""
        ...

    def give_back(self, slot: SlotLease) -> None:
        """End it at once; nothing if it was lost."""
        ...

    def taken(self, names: Sequence[str], now: datetime) -> int:
        """How many of these (100 at most) somebody has."""
        ...

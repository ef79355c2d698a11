"""Ports of slots."""

from datetime import datetime
from typing import Protocol

from spinneret.monitoring.slots.models import SlotLease


class SlotStore(Protocol):
    """Slots by name. All operations are atomic and raise DependencyUnavailable.

    After a lost response a call may be repeated, since the owner stays the same.
    """

    def take(
        self, name: str, owner: str, now: datetime, until: datetime, over: str | None = None
    ) -> SlotLease | None:
        """Acquire the slot; return None if another owner than `over` holds it at `now`."""

    def holder(self, name: str) -> str | None:
        """Return the last owner of a slot that wasn't released (consistent read)."""

    def renew(self, slot: SlotLease, until: datetime) -> SlotLease | None:
        """Extend the slot until `until`; return None if it was lost."""

    def give_back(self, slot: SlotLease) -> None:
        """Release the slot; no-op if lost."""

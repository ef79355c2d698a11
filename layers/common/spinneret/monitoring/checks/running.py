"""Slots of one running check: of its worker, its host, and hosts of redirects."""

from contextlib import suppress
from datetime import datetime, timedelta

from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.monitoring.checks.asking import HostBusy
from spinneret.monitoring.checks.parts import SLOT_MARGIN_SECONDS, CheckParts
from spinneret.monitoring.slots.models import SlotLease, check_owner, host_slot, target_of_owner
from spinneret.web.fetching.urls import Url


class RunningCheck:
    """A running check with the slots of the hosts that it requests. Implements CheckSlots."""

    def __init__(self, parts: CheckParts, slot: SlotLease, worker: SlotLease) -> None:
        self._parts = parts
        self._worker = worker
        self.slot: SlotLease = slot
        self._others: dict[str, SlotLease] = {}
        self._has_slot = True

    def is_over(self) -> None:
        """Mark the slot as ended: the state that has the outcome names its owner."""
        self._has_slot = False

    def leave(self) -> None:
        """Release the remaining slots; a slot that can't be released expires."""
        mine = [self.slot] if self._has_slot else []
        for slot in (*mine, *self._others.values()):
            with suppress(DependencyUnavailable):
                self._parts.slots.give_back(slot)

    def require_room(self, seconds: float) -> None:
        """See CheckSlots."""
        needed = seconds + bounds.REDIRECT_WAITS_SECONDS + SLOT_MARGIN_SECONDS
        end = min(each.until for each in (self.slot, self._worker, *self._others.values()))
        if self._parts.clock() + timedelta(seconds=needed) > end:
            raise HostBusy

    def enter(self, url: Url) -> None:
        """See CheckSlots; the host also allows one check at a time."""
        name = host_slot(url.host)
        if name == self.slot.name or name in self._others:
            return
        now, mine = self._parts.clock(), self.slot
        slot = self._parts.slots.take(name, mine.owner, now, mine.until)
        if slot is None:
            slot = take_after(self._parts, name, mine.owner, mine.until)
        if slot is None:
            raise HostBusy(url.host)
        self._others[name] = slot


def take_after(parts: CheckParts, name: str, owner: str, until: datetime) -> SlotLease | None:
    """Acquire a host's slot after a check whose outcome is written; None if it isn't over."""
    holder = parts.slots.holder(name)
    named = None if holder is None else target_of_owner(holder)
    if holder is None or named is None:
        return None
    other = parts.targets.get(*named)
    if other is None or other.state.slot is None:
        return None
    if check_owner(*named, other.state.slot) != holder:
        return None
    return parts.slots.take(name, owner, parts.clock(), until, holder)

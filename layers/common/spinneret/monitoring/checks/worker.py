"""Check worker: processes the list of one tick until the next tick."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.service import service
from spinneret.monitoring.checks.service import CheckDisposition, Checker
from spinneret.monitoring.due import rules
from spinneret.monitoring.due.models import DueTarget
from spinneret.monitoring.slots.models import SlotLease, worker_slot
from spinneret.monitoring.slots.ports import SlotStore

logger = logging.getLogger(__name__)

Order = tuple[datetime, Sequence[DueTarget]]
"""Time of the tick and the list of targets for this worker."""

_NO_SLOT: Final = "no_slot"
_RENEWED_EVERY_SECONDS: Final = 10.0


@service
class CheckWorker:
    """Checks targets while it holds one of MAX_CONCURRENCY slots.

    The slots bound the concurrent checks even if messages arrive repeatedly.
    """

    checker: Checker
    held_since: Callable[[str], datetime | None]
    """Function that returns since when a tenant is suspended; None if it isn't."""
    slots: SlotStore
    clock: Clock
    new_owner: Callable[[], str]
    interval_seconds: int
    workers: int
    slot_seconds: float
    """Longest duration of a check."""

    def run(self, order: Order, remaining: Remaining) -> Counter[str]:
        """Check the listed targets in order; return the number of targets by outcome.

        If a host is busy, its target and all later targets of that host are skipped. A target that
        redirects to another busy host is deferred alone. Targets beyond
        the available time stay due for the next tick. Raises DependencyUnavailable.
        """
        ticked_at, targets = order
        end, done = rules.end_of_round(ticked_at, self.interval_seconds), Counter[str]()
        slot = self._take() if self.clock() < end else None
        if slot is None:
            done[_NO_SLOT] = len(targets)
            return done
        busy: set[str] = set()
        try:
            for each in targets:
                if self.clock() >= end or remaining() < self._needed:
                    break
                slot = self._renewed(slot)
                if slot is None:
                    break
                done[self._one(each, slot, busy)] += 1
        finally:
            if slot is not None:
                self.slots.give_back(slot)
        logger.info("checks_done", extra={"listed": len(targets), **done})
        return done

    def _one(self, due: DueTarget, slot: SlotLease, busy: set[str]) -> CheckDisposition:
        since = self.held_since(due.tenant)
        if since is not None:
            return self.checker.put_off(due, since)
        if due.host in busy:
            watched = self.checker.still_due(due)
            return CheckDisposition.STALE if watched is None else self.checker.skip(watched)
        done = self.checker.check(due, slot)
        if done is CheckDisposition.SKIPPED:
            busy.add(due.host)
        return done

    @property
    def _needed(self) -> float:
        return self.slot_seconds + bounds.DEADLINE_MARGIN_SECONDS

    def _take(self) -> SlotLease | None:
        """Acquire a free worker slot; return None if all are in use.

        The search starts at a slot that depends on the owner.
        """
        owner, now = self.new_owner(), self.clock()
        first = int(owner, 16) % self.workers
        for number in range(self.workers):
            name = worker_slot((first + number) % self.workers)
            slot = self.slots.take(name, owner, now, now + self._lease)
            if slot is not None:
                return slot
        return None

    def _renewed(self, slot: SlotLease) -> SlotLease | None:
        """Return the slot, renewed if it is too short for a check; None if it was lost."""
        now = self.clock()
        if slot.until - now >= timedelta(seconds=self.slot_seconds):
            return slot
        return self.slots.renew(slot, now + self._lease)

    @property
    def _lease(self) -> timedelta:
        return timedelta(seconds=self.slot_seconds + _RENEWED_EVERY_SECONDS)

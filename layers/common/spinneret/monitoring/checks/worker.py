"""Check worker: makes the checks of a message, and sends them again while their host is busy."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.passes import FAILED
from spinneret.kernel.service import service
from spinneret.monitoring import limits
from spinneret.monitoring.checks.service import Checker, HostWait
from spinneret.monitoring.due.models import DueTarget, Planned
from spinneret.monitoring.due.ports import CheckLane
from spinneret.monitoring.slots.models import SlotLease, worker_slot
from spinneret.monitoring.slots.ports import SlotStore

logger = logging.getLogger(__name__)

WAITING: Final = "waiting"
"""The host or all workers were busy: the check was sent again."""
LATE: Final = "late"
"""The message came after the check's time was over."""
_RENEWED_EVERY_SECONDS: Final = 30.0


@service
class CheckWorker:
    """Checks targets while its process holds one of MAX_CONCURRENCY slots.

    The slots bound the concurrent checks even if the queue starts more workers. A process keeps
    its slot for later messages; it processes one message at a time.
    """

    checker: Checker
    held_since: Callable[[str], datetime | None]
    """Function that returns since when a tenant is suspended; None if it isn't."""
    slots: SlotStore
    lane: CheckLane
    clock: Clock
    new_owner: Callable[[], str]
    workers: int
    slot_seconds: float
    """Longest duration of a check."""
    slot: SlotLease | None = None
    """This process's slot."""

    def run(self, checks: Sequence[DueTarget], remaining: Remaining) -> Counter[str]:
        """Make the checks in order, all of one host; return their number by outcome.

        If the host is busy, all later checks wait with the first one; a target that redirects to
        another busy host waits alone. Raises DependencyUnavailable.
        """
        done, waiting = Counter[str](), Planned(at=self.clock(), checks=())
        for each in checks:
            try:
                waiting = self._made(each, waiting, remaining, done)
            except DependencyUnavailable:
                raise
            except Exception:  # a row that this release can't read; others have their checks
                logger.exception("check_failed", extra={"target_id": each.target_id})
                done[FAILED] += 1
        self._send(waiting)
        logger.info("checks_done", extra={"listed": len(checks), **done})
        return done

    def _made(
        self, due: DueTarget, waiting: Planned, remaining: Remaining, done: Counter[str]
    ) -> Planned:
        """Make a check, and count it; return what waits."""
        if self.clock() >= due.until:
            done[LATE] += 1
        elif (since := self.held_since(due.tenant)) is not None:
            done[self.checker.put_off(due, since)] += 1
        elif waiting.checks or not self._has_room(remaining):
            return self._later(waiting, due, HostWait(), done)
        else:
            assert self.slot is not None  # there is room
            found = self.checker.check(due, self.slot)
            if not isinstance(found, HostWait):
                done[found] += 1
            elif found.elsewhere:
                self._send(self._later(waiting, due, found, done))
            else:
                return self._later(waiting, due, found, done)
        return waiting

    def _later(
        self, waiting: Planned, due: DueTarget, wait: HostWait, done: Counter[str]
    ) -> Planned:
        """Return what waits, with one check more, unless its time would be over by then."""
        soon = self.clock() + timedelta(seconds=limits.CHECK_RETRY_SECONDS)
        at = max(soon, waiting.at, wait.until or soon)
        due = replace(due, reservation=wait.reservation or due.reservation)
        if at >= due.until:
            done[self.checker.skip(due)] += 1
            return waiting
        done[WAITING] += 1
        return Planned(at=at, checks=(*waiting.checks, due))

    def _send(self, planned: Planned) -> None:
        if planned.checks:
            self.lane.send([planned])

    def _has_room(self, remaining: Remaining) -> bool:
        """Return whether there is a worker's slot, and time for the longest check."""
        if remaining() < self.slot_seconds + bounds.DEADLINE_MARGIN_SECONDS:
            return False
        now = self.clock()
        if self.slot is None or self.slot.until - now < timedelta(seconds=self.slot_seconds):
            self.slot = self._renewed(now) or self._taken(now)
        return self.slot is not None

    def _renewed(self, now: datetime) -> SlotLease | None:
        return None if self.slot is None else self.slots.renew(self.slot, now + self._lease)

    def _taken(self, now: datetime) -> SlotLease | None:
        """Acquire a free slot, searching from one that depends on the owner."""
        owner = self.new_owner()
        first = int(owner, 16) % self.workers
        for number in range(self.workers):
            name = worker_slot((first + number) % self.workers)
            slot = self.slots.take(name, owner, now, now + self._lease)
            if slot is not None:
                return slot
        return None

    @property
    def _lease(self) -> timedelta:
        return timedelta(seconds=self.slot_seconds + _RENEWED_EVERY_SECONDS)

"""The rule of the minute, and what a tick does."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.metrics import emf_fields
from spinneret.monitoring.due import rules
from spinneret.monitoring.due.models import Announced, CheckTickResult, DueTarget
from spinneret.monitoring.due.ports import CheckLanes, DueIndex
from spinneret.monitoring.slots.ports import SlotStore
from spinneret.web.politeness.models import PaceLimits

logger = logging.getLogger(__name__)

_TICK: Final = "TICK"
_SHARE: Final = 0.6  # of an interval: SQS delays are good to a second
_UNITS: Final = {"due": "Count", "handed": "Count", "late_seconds": "Seconds"}
_NOTHING: Final = CheckTickResult(due=0, handed=0, workers=0, oldest_seconds=0.0)


class TickScheduler:
    """Sends the ticks of a minute."""

    def __init__(self, *, lanes: CheckLanes, clock: Clock, interval_seconds: int) -> None:
        self._lanes = lanes
        self._clock = clock
        self._interval = interval_seconds

    def run(self) -> Announced:
        """Raises DependencyUnavailable."""
        delays = rules.delays(self._interval)
        self._lanes.announce(self._clock(), delays)
        return Announced(ticks=len(delays))


class Tick:
    """Hands targets whose time has come to workers."""

    def __init__(
        self,
        *,
        index: DueIndex,
        lanes: CheckLanes,
        slots: SlotStore,
        clock: Clock,
        new_owner: Callable[[], str],
        interval_seconds: int,
        workers: int,
        pace: PaceLimits,
    ) -> None:
        """`pace` is the stage's, at a host that nobody slows down."""
        self._index = index
        self._lanes = lanes
        self._slots = slots
        self._clock = clock
        self._new_owner = new_owner
        self._interval = interval_seconds
        self._workers = workers
        self._per_host = rules.places_of_host(pace, interval_seconds)

    def run(self, at: datetime) -> CheckTickResult:
        """The tick of this time; nothing if it comes late, or another one was a moment ago.

        So the ticks that pile up in an outage are one. Raises DependencyUnavailable.
        """
        now, every = self._clock(), timedelta(seconds=min(self._interval, rules.MINUTE))
        if now >= at + every:
            return _NOTHING
        if self._slots.take(_TICK, self._new_owner(), now, now + _SHARE * every) is None:
            return _NOTHING
        found = [each for shard in range(bounds.CHECK_SHARDS) for each in self._found(shard, now)]
        lists = rules.assign_to_workers(found, self._workers, self._per_host)
        for each in lists:
            self._lanes.hand(now, each)
        ticked = CheckTickResult(
            due=len(found),
            handed=sum(map(len, lists)),
            workers=len(lists),
            oldest_seconds=max(((now - each.due_at).total_seconds() for each in found), default=0),
        )
        logger.info(
            "checks_due",
            extra={
                "due": ticked.due,
                "handed": ticked.handed,
                "late_seconds": round(ticked.oldest_seconds, 3),
                **emf_fields(now, _UNITS),
            },
        )
        return ticked

    def _found(self, shard: int, now: datetime) -> list[DueTarget]:
        """What is due of a shard: more than the lists hold, as most may be a few hosts'.

        Where there is more than a tick reads, it reads on at another place each time, so that it
        meets all hosts in the end.
        """
        found = list(islice(self._index.due(shard, now), bounds.CHECK_READ_TARGETS))
        if len(found) < bounds.CHECK_READ_TARGETS:
            return found
        since = rules.scan_offset(found[-1].due_at, now, self._interval)
        more = islice(self._index.due(shard, now, since), bounds.CHECK_READ_TARGETS)
        return list(dict.fromkeys([*found, *more]))

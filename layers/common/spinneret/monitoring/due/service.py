"""The rule of the minute, and what a tick does."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.monitoring.due import rules
from spinneret.monitoring.due.models import Announced, Ticked
from spinneret.monitoring.due.ports import CheckLanes, DueIndex
from spinneret.monitoring.slots.ports import SlotStore

logger = logging.getLogger(__name__)

_TICK: Final = "TICK"
_SHARE: Final = 0.6  # of an interval: SQS delays are good to a second
_NOTHING: Final = Ticked(due=0, handed=0, workers=0, oldest_seconds=0.0)


class Announcer:
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
    ) -> None:
        self._index = index
        self._lanes = lanes
        self._slots = slots
        self._clock = clock
        self._new_owner = new_owner
        self._interval = interval_seconds
        self._workers = workers

    def run(self, at: datetime) -> Ticked:
        """The tick of this time; nothing if it comes late, or another one was a moment ago.

        So the ticks that pile up in an outage are one. Raises DependencyUnavailable.
        """
        now, every = self._clock(), timedelta(seconds=min(self._interval, rules.MINUTE))
        if now >= at + every:
            return _NOTHING
        if self._slots.take(_TICK, self._new_owner(), now, now + _SHARE * every) is None:
            return _NOTHING
        limit = 2 * self._workers * bounds.CHECK_ROUND_TARGETS // bounds.CHECK_SHARDS
        found = [
            each
            for shard in range(bounds.CHECK_SHARDS)
            for each in self._index.due(shard, now, limit)
        ]
        lists = rules.deal(found, self._workers)
        for each in lists:
            self._lanes.hand(now, each)
        ticked = Ticked(
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
            },
        )
        return ticked

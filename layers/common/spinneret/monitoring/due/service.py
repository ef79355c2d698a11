"""Services behind the minute rule and behind ticks."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from spinneret.kernel import metrics
from spinneret.kernel.clock import Clock
from spinneret.kernel.service import service
from spinneret.monitoring import limits
from spinneret.monitoring.due import rules
from spinneret.monitoring.due.models import Announced, CheckTickResult, DueTarget
from spinneret.monitoring.due.ports import CheckLanes, DueIndex
from spinneret.monitoring.slots.ports import SlotStore
from spinneret.web.politeness.models import PaceLimits

logger = logging.getLogger(__name__)

_TICK: Final = "TICK"
_SHARE: Final = 0.6  # of an interval, since SQS delays are exact to one second
_NOTHING: Final = CheckTickResult(due=0, handed=0, workers=0, oldest_seconds=0.0)


@service
class TickScheduler:
    """Sends the ticks of one minute, starting now."""

    lanes: CheckLanes
    clock: Clock
    interval_seconds: int

    def run(self) -> Announced:
        """Send the ticks. Raises DependencyUnavailable."""
        delays = rules.delays(self.interval_seconds)
        self.lanes.announce(self.clock(), delays)
        return Announced(ticks=len(delays))


class Tick:
    """Sends due targets to workers."""

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
        """Store the dependencies; `pace` is the stage's rate limit of a host without own limits."""
        self._index = index
        self._lanes = lanes
        self._slots = slots
        self._clock = clock
        self._new_owner = new_owner
        self._interval = interval_seconds
        self._workers = workers
        self._per_host = rules.places_of_host(pace, interval_seconds)

    def run(self, at: datetime) -> CheckTickResult:
        """Send due targets; do nothing if the tick is late or closely follows another one.

        So ticks that accumulate in an outage act as one. Raises DependencyUnavailable.
        """
        now, every = self._clock(), timedelta(seconds=min(self._interval, rules.MINUTE))
        if now >= at + every:
            return _NOTHING
        if self._slots.take(_TICK, self._new_owner(), now, now + _SHARE * every) is None:
            return _NOTHING
        found = [each for shard in range(limits.CHECK_SHARDS) for each in self._found(shard, now)]
        lists = rules.assign_to_workers(found, self._workers, self._per_host)
        for each in lists:
            self._lanes.hand(now, each)
        ticked = CheckTickResult(
            due=len(found),
            handed=sum(map(len, lists)),
            workers=len(lists),
            oldest_seconds=max(((now - each.due_at).total_seconds() for each in found), default=0),
        )
        metrics.CHECKS_DUE.add(ticked.due)
        metrics.CHECKS_HANDED.add(ticked.handed)
        metrics.CHECK_LATE.add(round(ticked.oldest_seconds, 3))
        return ticked

    def _found(self, shard: int, now: datetime) -> list[DueTarget]:
        """Return due targets of a shard, more than fit in the lists.

        A few hosts may own most due targets. If more are due than a tick reads, it also reads from
        a time that varies by tick. So it reaches all hosts eventually.
        """
        found = list(islice(self._index.due(shard, now), limits.CHECK_READ_TARGETS))
        if len(found) < limits.CHECK_READ_TARGETS:
            return found
        since = rules.scan_offset(found[-1].due_at, now, self._interval)
        more = islice(self._index.due(shard, now, since), limits.CHECK_READ_TARGETS)
        return list(dict.fromkeys([*found, *more]))

"""Services behind the minute rule and behind changes of targets."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import chain, islice
from typing import Final

from spinneret.kernel import metrics
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.service import service
from spinneret.monitoring import limits
from spinneret.monitoring.due import rules
from spinneret.monitoring.due.models import CheckTickResult, ListedTarget, TickWindow
from spinneret.monitoring.due.ports import CheckLane, DueIndex
from spinneret.monitoring.slots.ports import SlotStore
from spinneret.monitoring.targets.models import TargetWithState

_TICK: Final = "TICK"
_ONE_TICK_SECONDS: Final = 30.0  # a rule may start its function twice
_NOTHING: Final = CheckTickResult(listed=0, sent=0, messages=0, late_seconds=0.0)


@service
class Tick:
    """Sends the checks of the next minute."""

    index: DueIndex
    lane: CheckLane
    slots: SlotStore
    clock: Clock
    new_owner: Callable[[], str]
    workers: int
    rate: float
    """The stage's rate limit of a host without own limits, in requests a second."""

    def run(self) -> CheckTickResult:
        """Send the checks; do nothing shortly after another tick. Raises DependencyUnavailable."""
        now = self.clock()
        end = now + timedelta(seconds=_ONE_TICK_SECONDS)
        if self.slots.take(_TICK, self.new_owner(), now, end) is None:
            return _NOTHING
        window = rules.window(self.index.sent_until(), now)
        with ThreadPoolExecutor(limits.CHECK_SHARDS) as pool:
            found = pool.map(partial(self._found, window=window), range(limits.CHECK_SHARDS))
            listed = list(chain.from_iterable(found))
        most = self.workers * limits.CHECK_ROUND_TARGETS
        planned = rules.plan(listed, window, rate=self.rate, most=most)
        self.lane.send(planned)
        # Only now: if sending failed, the next tick sends these checks.
        self.index.keep_sent(window.until)
        ticked = CheckTickResult(
            listed=len(listed),
            sent=sum(len(each.checks) for each in planned),
            messages=len(planned),
            late_seconds=round(rules.late_seconds(listed, now), 3),
        )
        metrics.CHECKS_DUE.add(ticked.listed)
        metrics.CHECKS_HANDED.add(ticked.sent)
        metrics.CHECK_LATE.add(ticked.late_seconds)
        return ticked

    def _found(self, shard: int, window: TickWindow) -> list[ListedTarget]:
        """Return the entries of a shard.

        If there are more than a tick reads, it also reads from a time that varies by tick. So it
        reaches all hosts eventually.
        """
        most = limits.CHECK_READ_TARGETS
        found = list(islice(self.index.due(shard, window.until), most))
        if len(found) < most:
            return found
        since = rules.scan_offset(found[-1].listed_at, window.until)
        more = islice(self.index.due(shard, window.until, since), most)
        return list(dict.fromkeys([*found, *more]))


@service
class FirstChecks:
    """Sends the checks of a new or changed target until the next tick's window begins."""

    index: DueIndex
    lane: CheckLane
    clock: Clock

    def send(self, watched: TargetWithState) -> None:
        """Send them; in an outage the next tick is the first one that sends some."""
        with suppress(DependencyUnavailable):
            planned = rules.first_checks(watched, self.index.sent_until(), self.clock())
            if planned:
                self.lane.send(planned)

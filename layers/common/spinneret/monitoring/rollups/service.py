"""Figures of a target for a time window."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from spinneret.kernel.clock import Clock
from spinneret.kernel.paging import items_of
from spinneret.kernel.service import service
from spinneret.monitoring import limits
from spinneret.monitoring.checks.models import CheckResult, Outcome
from spinneret.monitoring.checks.ports import CheckStore
from spinneret.monitoring.incidents.rules import tally_of
from spinneret.monitoring.rollups import rules
from spinneret.monitoring.rollups.models import DayTally, Figures, Rollup, Window
from spinneret.monitoring.rollups.ports import RollupStore
from spinneret.monitoring.targets.models import TargetWithState
from spinneret.monitoring.targets.rules import expected_seconds

_PAGE = 1000  # results, about half a megabyte


@service
class FigureService:
    """Computes figures up to the last check.

    The next check determines how long the last outcome holds.
    """

    rollups: RollupStore
    checks: CheckStore
    clock: Clock

    def figures(self, watched: TargetWithState, window: Window) -> Figures:
        """Return a target's figures.

        The last hour is summed from results, days from hours, and months from days; each takes one
        page of a query. Raises DependencyUnavailable.
        """
        now = self.clock()
        since = rules.begin_of(window, now)
        last = watched.state.last
        until = now if last is None else max(since, last.at)
        if window is Window.HOUR:
            return Figures(since=since, until=until, tally=self._recent(watched, since))
        target, hour = watched.target, watched.state.hour
        by_hour = window in {Window.DAY, Window.WEEK}
        read = self.rollups.hours if by_hour else self.rollups.days
        tallies = [each.tally for each in read(target.tenant, target.id, since)]
        if hour is not None and hour.hour >= since:
            tallies.append(hour.tally)
        return Figures(since=since, until=until, tally=sum(tallies, Rollup()))

    def days(self, watched: TargetWithState) -> Sequence[DayTally]:
        """Return a target's figures by UTC day, oldest first; days without figures are missing.

        Raises DependencyUnavailable.
        """
        target = watched.target
        since = rules.first_of(limits.DAYS_SHOWN, self.clock())
        days = self.rollups.days(target.tenant, target.id, since)
        return rules.with_hour(days, watched.state.hour, since)

    def _recent(self, watched: TargetWithState, since: datetime) -> Rollup:
        target = watched.target
        interval = expected_seconds(target, watched.state.paced_seconds)
        earliest = since - timedelta(seconds=limits.OUTCOME_HOLDS_INTERVALS * interval)
        results = [*self._results(target.tenant, target.id, earliest)]
        asked = [each for each in results if each.outcome is not Outcome.SKIPPED_BUSY]
        parts = [tally_of(each) for each in results if each.checked_at >= since]
        for one, following in pairwise(asked):
            until = following.paused_at or following.checked_at
            pieces = rules.held(
                one.outcome,
                one.checked_at,
                until,
                one.interval_seconds or interval,
                maintenance=one.in_maintenance,
                begin=since,
            )
            parts += [tally for _, tally in pieces]
        return sum(parts, Rollup())

    def _results(self, tenant: str, target_id: str, since: datetime) -> Sequence[CheckResult]:
        """Return the results since a time, oldest first."""
        found = items_of(
            lambda after: self.checks.results(
                tenant, target_id, since=since, until=None, after=after, limit=_PAGE
            )
        )
        return list(found)[::-1]

"""Checks of a simulated month, and their evaluation by monitoring."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from spinneret.monitoring.checks.models import CheckError, CheckResult, Outcome
from spinneret.monitoring.incidents.rules import step
from spinneret.monitoring.rollups import rules
from spinneret.monitoring.rollups.models import HourTally, Rollup
from spinneret.monitoring.targets.models import Options, Target, TargetState, TargetWithState
from spinneret.monitoring.targets.rules import next_slot

BEGIN: Final = datetime(2026, 3, 1, tzinfo=UTC)
INTERVAL: Final = 300
_ERROR: Final = CheckError(code="HTTP_ERROR", message="answered 500")


@dataclass(frozen=True)
class Seen:
    """One check as the site sees it."""

    at: datetime
    outcome: Outcome
    latency_ms: int


def first_check(target_id: str) -> datetime:
    """Return the time of a target's first check of the month."""
    return next_slot(target_id, INTERVAL, BEGIN)


class Monitored:
    """One target whose state the rules compute check by check."""

    def __init__(self, target_id: str) -> None:
        self._target = Target(
            tenant="acme",
            id=target_id,
            url="https://site.example/",
            canonical_url="https://site.example/",
            host="site.example",
            created_at=BEGIN,
            updated_at=BEGIN,
            options=Options(interval_seconds=INTERVAL),
        )
        self.state = TargetState(sequence=1, due_at=BEGIN)
        self.hours = 0
        self._days: dict[datetime, Rollup] = {}
        self._incidents: dict[str, tuple[datetime, datetime | None]] = {}

    @property
    def incidents(self) -> list[tuple[datetime, datetime | None]]:
        """Start and end of each incident."""
        return list(self._incidents.values())

    @property
    def tally(self) -> Rollup:
        """Rollup of the whole time, from days and the current hour, as in a window of 30 days."""
        assert self.state.hour is not None
        return sum([*self._days.values(), self.state.hour.tally], Rollup())

    def checks(self, seen: Iterable[Seen]) -> None:
        """Evaluate the checks one after the other."""
        for each in seen:
            result = CheckResult(
                id=str(self.state.sequence),
                checked_at=each.at,
                outcome=each.outcome,
                late_ms=0,
                latency_ms=each.latency_ms,
                error=_ERROR if each.outcome is Outcome.DOWN else None,
            )
            made = step(TargetWithState(target=self._target, state=self.state), result, each.at)
            self.state = made.state
            self.close(made.closed)
            if (change := made.incident) is not None:
                self._incidents[change.id] = change.started_at, change.ended_at

    def close(self, closed: Iterable[HourTally]) -> None:
        """Add closed hours to their days."""
        for each in closed:
            day = rules.day_of(each.hour)
            self._days[day] = self._days.get(day, Rollup()) + each.tally
            self.hours += 1

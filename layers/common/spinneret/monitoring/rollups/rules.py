"""Derive figures from outcomes. All functions are pure.

An outcome holds from its check to the next one, for at most OUTCOME_HOLDS_INTERVALS intervals:
later time without a check isn't counted. Periods are split at UTC hours.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from spinneret.monitoring import limits
from spinneret.monitoring.checks.models import Outcome
from spinneret.monitoring.rollups.models import DayTally, HourTally, Rollup, Window

_MILLISECOND: Final = timedelta(milliseconds=1)
_DURATION_OF: Final[Mapping[Outcome, str]] = {
    Outcome.UP: "up_ms",
    Outcome.DEGRADED: "degraded_ms",
    Outcome.DOWN: "down_ms",
    Outcome.UNKNOWN: "unknown_ms",
}


def uptime(tally: Rollup, *, with_maintenance: bool) -> float | None:
    """Return the available share of the known time, 0 to 1; None if no time is known."""
    up, down = tally.up_ms + tally.degraded_ms, tally.down_ms
    if with_maintenance:
        up, down = up + tally.maintenance_up_ms, down + tally.maintenance_down_ms
    return up / (up + down) if up + down else None


def hour_of(moment: datetime) -> datetime:
    """Return the start of the hour that contains `moment`."""
    return moment.replace(minute=0, second=0, microsecond=0)


def day_of(moment: datetime) -> datetime:
    """Return the start of the UTC day that contains `moment`."""
    return hour_of(moment).replace(hour=0)


def begin_of(window: Window, now: datetime) -> datetime:
    """Return where a window's figures begin: at a full hour or day, except for the last hour."""
    if window is Window.HOUR:
        return now - window.length
    at = now - window.length
    return hour_of(at) if window in {Window.DAY, Window.WEEK} else day_of(at)


def first_of(days: int, now: datetime) -> datetime:
    """Return the start of the first of so many UTC days, the last of which is today."""
    return day_of(now - timedelta(days=days - 1))


def with_hour(
    days: Sequence[DayTally], hour: HourTally | None, since: datetime
) -> Sequence[DayTally]:
    """Add the present hour to days from `since` on, which have only completed hours."""
    if hour is None or hour.hour < since:
        return days
    day = day_of(hour.hour)
    if days and days[-1].day == day:
        return *days[:-1], DayTally(day, days[-1].tally + hour.tally)
    return *days, DayTally(day, hour.tally)


def held(
    outcome: Outcome,
    since: datetime,
    until: datetime,
    interval_seconds: int,
    *,
    maintenance: bool,
    begin: datetime | None = None,
) -> Iterator[tuple[datetime, Rollup]]:
    """Yield the time for which an outcome held, split by hour; time before `begin` is left out."""
    cap = since + timedelta(seconds=limits.OUTCOME_HOLDS_INTERVALS * interval_seconds)
    end, begin = min(until, cap), since if begin is None else max(since, begin)
    name = _DURATION_OF.get(outcome)
    if maintenance and outcome is not Outcome.UNKNOWN:
        name = "maintenance_down_ms" if outcome is Outcome.DOWN else "maintenance_up_ms"
    while name is not None and begin < end:
        hour = hour_of(begin)
        stop = min(end, hour + timedelta(hours=1))
        # Rounding counts from the outcome's start, so that the pieces add up to the whole.
        milliseconds = (stop - since) // _MILLISECOND - (begin - since) // _MILLISECOND
        yield hour, Rollup(**{name: milliseconds})  # type: ignore[arg-type]  # never `latencies`
        begin = stop


def added(
    current: HourTally | None, pieces: Iterator[tuple[datetime, Rollup]]
) -> tuple[HourTally | None, tuple[HourTally, ...]]:
    """Add pieces of time; return the current hour and the hours that they complete.

    A piece that a slow clock puts before the current hour counts in the current one.
    """
    closed = []
    for hour, tally in pieces:
        if current is None:
            current = HourTally(hour, tally)
        elif hour <= current.hour:
            current = HourTally(current.hour, current.tally + tally)
        else:
            closed.append(current)
            current = HourTally(hour, tally)
    return current, tuple(closed)

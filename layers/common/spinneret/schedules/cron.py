"""Cron lines of five fields in a time zone.

A line names wall-clock minutes, which croniter computes. This module maps them to instants:

* A minute that the clock skips runs at the next existing minute. On the day on which 2:00 is
  followed by 3:00, all of `0,30 2 * * *` is one run at 3:00.
* A minute that the clock repeats runs only the first time. So does an hourly line, which then
  pauses for an hour.

With five fields, a minute is the shortest interval. croniter's random and hashed fields are
refused, since they would change a schedule each time it is read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from spinneret.kernel import bounds
from spinneret.kernel.errors import ValidationFailed
from spinneret.kernel.zones import require_zone

_MONTHS: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DAYS: Final = "sun|mon|tue|wed|thu|fri|sat"
_FIELD: Final = re.compile(rf"(?:[0-9*/,?#lw-]|{_MONTHS}|{_DAYS})+", re.ASCII | re.IGNORECASE)
_NAMED: Final = frozenset(
    {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
)
_MINUTE: Final = timedelta(minutes=1)
_YEARS_MAX: Final = 50  # croniter's default: a schedule without a time in them never fires
# Lines are validated from here, so that the result doesn't depend on the day.
_TRIED_FROM: Final = datetime(2000, 1, 1)  # noqa: DTZ001 - wall-clock time of no zone


@dataclass(frozen=True)
class CronSchedule:
    """A schedule, as returned by `parse_schedule`."""

    line: str
    """Cron line with single blanks."""
    timezone: str
    """Name in the IANA database."""

    @property
    def zone(self) -> ZoneInfo:
        """Rules of the zone, which the library caches."""
        return ZoneInfo(self.timezone)


def parse_schedule(line: str, timezone: str = "UTC") -> CronSchedule:
    """Parse a cron line. Raises ValidationFailed, naming the field `schedule_cron` or `timezone`.

    A line without a run in 50 years is refused (the 30th of February).
    """
    if len(line) > bounds.CRON_LINE_MAX_CHARS:
        raise _refused("schedule_cron", f"is longer than {bounds.CRON_LINE_MAX_CHARS} characters")
    schedule = CronSchedule(line=" ".join(line.split()), timezone=timezone)
    if schedule.line.lower() not in _NAMED:
        fields = schedule.line.split(" ")
        if len(fields) != 5 or not all(map(_FIELD.fullmatch, fields)):
            raise _refused("schedule_cron", "is not a cron line of five fields")
    require_zone(timezone)
    _require_run(schedule)
    return schedule


def next_run(schedule: CronSchedule, after: datetime) -> datetime:
    """Return the first run after this time, in UTC."""
    wall = after.astimezone(schedule.zone).replace(tzinfo=None)
    moments = (wall_moment(minute, schedule.zone) for minute in _minutes(schedule, wall))
    return next(moment for moment in moments if moment > after)


def last_run(schedule: CronSchedule, now: datetime) -> datetime:
    """Return the latest run that isn't in the future, in UTC."""
    local = now.astimezone(schedule.zone)
    first, second = (_offset(local.replace(fold=fold)) for fold in (0, 1))
    # Minutes later than this one have already occurred if the hour is repeated.
    repeated = first - second if local.fold else timedelta()
    wall = local.replace(tzinfo=None) + repeated + _MINUTE
    moments = (wall_moment(minute, schedule.zone) for minute in _minutes(schedule, wall, back=True))
    return next(moment for moment in moments if moment <= now)


def due(schedule: CronSchedule, now: datetime, last: datetime) -> datetime | None:
    """Return the latest due run, however many were missed; None if it isn't after `last`.

    `last` is the time of the last run, or of the schedule's creation.
    """
    moment = last_run(schedule, now)
    return moment if moment > last else None


def _minutes(schedule: CronSchedule, start: datetime, *, back: bool = False) -> Iterator[datetime]:
    """Yield wall-clock minutes of the line after `start`, or before it, without end."""
    # Imported late: it imports dateutil, and few calls of a function need it.
    from croniter import croniter  # type: ignore[import-untyped]  # noqa: PLC0415 (see above)

    line = croniter(
        schedule.line,
        start,
        ret_type=datetime,
        max_years_between_matches=_YEARS_MAX,
    )
    while True:
        minute: datetime = line.get_prev() if back else line.get_next()
        yield minute


def wall_moment(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return a wall-clock minute in UTC; the first of two, or the end of a gap."""
    local = wall.replace(tzinfo=zone)
    moment = local.astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) == wall:
        return moment
    # The clock changes from one offset to the other between these two times.
    former, later = _offset(local.replace(fold=0)), _offset(local.replace(fold=1))
    start = (wall - later).replace(tzinfo=UTC)
    before, behind = 0, (later - former) // _MINUTE
    while behind - before > 1:
        middle = (before + behind) // 2
        if _offset((start + middle * _MINUTE).astimezone(zone)) == former:
            before = middle
        else:
            behind = middle
    return start + behind * _MINUTE


def _offset(local: datetime) -> timedelta:
    offset = local.utcoffset()
    assert offset is not None  # it has a zone
    return offset


def _require_run(schedule: CronSchedule) -> None:
    try:
        next(_minutes(schedule, _TRIED_FROM))
    except ValueError as error:  # CroniterError is one
        raise _refused("schedule_cron", "is not a valid cron line, or never fires") from error


def _refused(field: str, reason: str) -> ValidationFailed:
    return ValidationFailed.of_field(field, reason, error=f"the schedule {reason}")

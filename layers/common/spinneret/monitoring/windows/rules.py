"""Decide when a maintenance window is open. All functions are pure.

Windows follow the wall clock of their time zone: a window from 2:30 to 3:00 keeps this time in
summer. It opens twice if the clock repeats that time, and never if the clock skips it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import MAXYEAR, UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from spinneret.kernel.errors import ValidationFailed
from spinneret.kernel.zones import require_zone
from spinneret.monitoring.windows.models import MaintenanceWindow
from spinneret.schedules.cron import wall_moment

if TYPE_CHECKING:
    from dateutil.rrule import rrule

_PARTS: Final = re.compile(r"[A-Z]+=[A-Z0-9,+-]+(;[A-Z]+=[A-Z0-9,+-]+)*")
_FREQUENCIES: Final = frozenset({"DAILY", "WEEKLY", "MONTHLY", "YEARLY"})
_ALLOWED: Final = frozenset(
    {"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYMONTH", "BYSETPOS", "UNTIL", "COUNT", "WKST"}
)
"""Allowed RRULE parts, which select days: the first start determines the time of day."""
_UNTIL: Final = re.compile(r"UNTIL=(\d{8})(T\d{6})?Z?")
_ORDINAL: Final = re.compile(r"\d+")
_YEARS_MAX: Final = 50
"""Maximum years from a recurring window's first start to its change: dateutil goes through all
starts in between at each check."""
_CYCLE_YEARS: Final = 400  # 20,871 weeks, after which the calendar repeats
_INTERVAL_MAX: Final = 1000
_COUNT_MAX: Final = 1000  # COUNT requires enumerating all starts from the first one


def checked(window: MaintenanceWindow) -> MaintenanceWindow:
    """Return the window if it is valid. Raises ValidationFailed, whose details name the field."""
    require_zone(window.timezone)
    if window.starts_at.tzinfo is not None:
        raise _refused("starts_at", "must not have a UTC offset; set `timezone`")
    if window.recurrence is not None:
        _require_readable(window.recurrence)
        if abs(window.starts_at.year - window.updated_at.year) > _YEARS_MAX:
            raise _refused("starts_at", f"is more than {_YEARS_MAX} years away")
        try:
            happens = _happens(window.recurrence, window.starts_at)
        except (ValueError, TypeError, OverflowError) as error:
            raise _refused("recurrence", "is not an RRULE of RFC 5545") from error
        if not happens:
            raise _refused("recurrence", "never happens")
    return window


def _happens(text: str, starts_at: datetime) -> bool:
    """Return whether a rule has a start.

    dateutil searches until the year 9999, so the rule is tried in the calendar's last cycle first.
    """
    cycles = (MAXYEAR - starts_at.year) // _CYCLE_YEARS
    late = starts_at.replace(year=starts_at.year + cycles * _CYCLE_YEARS)
    endless = ";".join(part for part in text.split(";") if not part.startswith("UNTIL="))
    tries = (endless, late), (text, starts_at)
    return all(next(iter(_rule(*each)), None) is not None for each in tries)


def open_until(window: MaintenanceWindow, now: datetime) -> datetime | None:
    """Return the end of the open window, which is exclusive; None if it is closed."""
    zone = ZoneInfo(window.timezone)
    wall = now.astimezone(zone).replace(tzinfo=None)
    length = timedelta(minutes=window.duration_minutes)
    begins = _beginnings(window, wall - length, wall)
    ends = [begin + length for begin in begins if begin <= wall < begin + length]
    if not ends:
        return None
    end = max(ends)
    first = wall_moment(end, zone)
    # The clock may repeat this time.
    return first if first > now else end.replace(tzinfo=zone, fold=1).astimezone(UTC)


def any_open_until(
    windows: Iterable[MaintenanceWindow], target_id: str, now: datetime
) -> datetime | None:
    """Return the latest end of a tenant's windows that are open for a target; None without one."""
    ends = (
        open_until(each, now)
        for each in windows
        if not each.target_ids or target_id in each.target_ids
    )
    return max(filter(None, ends), default=None)


def _beginnings(window: MaintenanceWindow, since: datetime, until: datetime) -> Iterator[datetime]:
    if window.recurrence is None:
        yield window.starts_at
        return
    rule = _rule(window.recurrence, window.starts_at)
    yield from rule.between(since, until, inc=True)


def _require_readable(text: str) -> None:
    if not _PARTS.fullmatch(text):
        raise _refused("recurrence", "is not an RRULE of RFC 5545, such as FREQ=WEEKLY;BYDAY=SU")
    names = [part.partition("=")[0] for part in text.split(";")]
    values: dict[str, str] = dict(part.split("=", 1) for part in text.split(";"))
    unknown = sorted(set(names) - _ALLOWED)
    if unknown or len(set(names)) < len(names):
        raise _refused("recurrence", f"may have each of {', '.join(sorted(_ALLOWED))} once")
    if values.get("FREQ") not in _FREQUENCIES:
        raise _refused("recurrence", f"needs FREQ, one of {', '.join(sorted(_FREQUENCIES))}")
    for name, most in (("INTERVAL", _INTERVAL_MAX), ("COUNT", _COUNT_MAX)):
        value = values.get(name, "1")
        if not value.isdigit() or len(value) > 4 or not 1 <= int(value) <= most:
            raise _refused("recurrence", f"{name} is from 1 to {most}")
    weeks = 53 if values["FREQ"] == "YEARLY" and "BYMONTH" not in values else 5
    if any(int(number) > weeks for number in _ORDINAL.findall(values.get("BYDAY", ""))):
        raise _refused("recurrence", f"BYDAY counts weekdays from 1 to {weeks}")


@lru_cache(maxsize=200)
def _rule(text: str, starts_at: datetime) -> rrule:
    # Imported late: dateutil takes longer to load than the rest, and few tenants have windows.
    from dateutil.rrule import rrule, rrulestr  # noqa: PLC0415 (see above)

    # An UNTIL in UTC can't be compared with the wall clock, so it is read as wall-clock time.
    wall = _UNTIL.sub(lambda found: f"UNTIL={found[1]}{found[2] or 'T235959'}", text)
    rule: Any = rrulestr(wall, dtstart=starts_at, cache=True)
    assert isinstance(rule, rrule)  # text without line breaks is a single rule
    return rule


def _refused(field: str, reason: str) -> ValidationFailed:
    return ValidationFailed.of_field(field, reason, error=f"the window's {field} {reason}")

"""Cron expressions with time zones."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.kernel.errors import ValidationFailed
from spinneret.schedules.cron import due, last_run, next_run, parse_schedule
from tests.rows import each_row

BERLIN = "Europe/Berlin"  # 29 March 2026: 2:00 becomes 3:00; 25 October 2026: 3:00 becomes 2:00


def at(text: str, timezone: str = BERLIN) -> datetime:
    """Return a wall-clock time in UTC; a trailing `*` means the second of two equal times."""
    wall = datetime.fromisoformat(text.rstrip("*"))
    return wall.replace(tzinfo=ZoneInfo(timezone), fold=int(text.endswith("*"))).astimezone(UTC)


@each_row(
    (ascii(row), row)
    for row in [
        ("0 */6 * * *", "2026-01-01T00:00", "2026-01-01T06:00"),
        ("0 */6 * * *", "2026-01-01T05:59:59", "2026-01-01T06:00"),
        ("* * * * *", "2026-01-01T00:00:01", "2026-01-01T00:01"),
        ("@daily", "2026-01-01T00:00", "2026-01-02T00:00"),
        ("0 12 * * mon-fri", "2026-01-02T13:00", "2026-01-05T12:00"),
        ("0 0 L * *", "2026-02-01T00:00", "2026-02-28T00:00"),
        ("0 0 29 2 *", "2026-01-01T00:00", "2028-02-29T00:00"),
        # Times that the clock skips
        ("30 2 * * *", "2026-03-28T12:00", "2026-03-29T03:00"),
        ("0,30 2 * * *", "2026-03-28T12:00", "2026-03-29T03:00"),
        ("0,30 2 * * *", "2026-03-29T03:00", "2026-03-30T02:00"),
        ("30 2 * * *", "2026-03-29T03:00", "2026-03-30T02:30"),
        ("0 * * * *", "2026-03-29T01:00", "2026-03-29T03:00"),
        ("0 * * * *", "2026-03-29T03:00", "2026-03-29T04:00"),
        # Times that the clock repeats
        ("30 2 * * *", "2026-10-24T12:00", "2026-10-25T02:30"),
        ("30 2 * * *", "2026-10-25T02:30", "2026-10-26T02:30"),
        ("30 2 * * *", "2026-10-25T02:10*", "2026-10-26T02:30"),
        ("0 * * * *", "2026-10-25T02:00", "2026-10-25T03:00"),
        ("*/20 * * * *", "2026-10-25T02:40", "2026-10-25T03:00"),
        ("*/20 * * * *", "2026-10-25T02:10*", "2026-10-25T03:00"),
    ]
)
def test_the_next_run_is_by_the_clock_on_the_wall(row: tuple[str, str, str]) -> None:
    line, after, expected = row
    assert next_run(parse_schedule(line, BERLIN), at(after)) == at(expected)


@pytest.mark.parametrize(
    ("timezone", "line", "after", "expected"),
    [
        # Half an hour is skipped: Lord Howe Island, 4 October 2026
        ("Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00", "2026-10-04T02:30"),
        # A whole day is skipped: Samoa had no 30 December 2011
        ("Pacific/Apia", "0 12 30 12 *", "2011-12-29T12:00", "2011-12-31T00:00"),
        ("Asia/Kolkata", "0 0 * * *", "2026-01-01T12:00", "2026-01-02T00:00"),
        ("UTC", "0 2 * * *", "2026-03-28T12:00", "2026-03-29T02:00"),
    ],
)
def test_other_zones_have_other_gaps(timezone: str, line: str, after: str, expected: str) -> None:
    run = next_run(parse_schedule(line, timezone), at(after, timezone))
    assert run == at(expected, timezone)


@pytest.mark.parametrize(
    ("now", "last", "expected"),
    [
        ("2026-01-01T06:00", "2026-01-01T05:59", "2026-01-01T06:00"),
        ("2026-01-01T06:00", "2026-01-01T06:00", None),
        ("2026-01-01T11:59", "2026-01-01T06:00", None),
        ("2026-01-09T12:30", "2026-01-01T06:00", "2026-01-09T12:00"),
        ("2026-01-01T05:00", "2026-02-01T00:00", None),
    ],
    ids=["on time", "done", "not yet", "missed runs are one", "a clock that was ahead"],
)
def test_missed_runs_are_one(now: str, last: str, expected: str | None) -> None:
    schedule = parse_schedule("0 */6 * * *", BERLIN)
    assert due(schedule, at(now), at(last)) == (at(expected) if expected else None)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-03-29T03:00", "2026-03-29T03:00"),
        ("2026-03-29T02:00", "2026-03-29T03:00"),  # this time doesn't exist: the clock shows 3:00
        ("2026-03-29T01:59", "2026-03-28T02:30"),
        ("2026-10-25T02:10", "2026-10-24T02:30"),
        ("2026-10-25T02:30", "2026-10-25T02:30"),
        ("2026-10-25T02:10*", "2026-10-25T02:30"),
    ],
)
def test_the_last_run_knows_gaps_and_repetitions(now: str, expected: str) -> None:
    assert last_run(parse_schedule("30 2 * * *", BERLIN), at(now)) == at(expected)


lines = st.sampled_from(
    ["* * * * *", "*/7 * * * *", "30 2 * * *", "0,30 1-3 * * *", "0 0 * * sun", "15 2 L * *"]
)
zones = st.sampled_from(
    [BERLIN, "UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca"]
)
turns = [datetime(2026, *day, tzinfo=UTC) for day in [(3, 29), (10, 25), (3, 8), (4, 4), (11, 1)]]
moments = st.builds(
    lambda turn, minutes: turn + timedelta(minutes=minutes),
    st.sampled_from(turns),
    st.integers(-1500, 1500),
)


@given(lines, zones, moments, st.integers(0, 3000))
def test_a_run_is_due_as_soon_as_the_next_one_has_come(
    line: str, zone: str, last: datetime, minutes: int
) -> None:
    schedule, now = parse_schedule(line, zone), last + timedelta(minutes=minutes)
    coming = next_run(schedule, last)
    assert (due(schedule, now, last) is not None) is (coming <= now)
    assert due(schedule, coming, last) == coming


@given(lines, zones, moments)
def test_runs_go_forward_by_a_minute_at_least(line: str, zone: str, after: datetime) -> None:
    schedule = parse_schedule(line, zone)
    one = next_run(schedule, after)
    two = next_run(schedule, one)
    assert after < one
    assert two - one >= timedelta(minutes=1)
    assert last_run(schedule, two - timedelta(seconds=1)) == one


@each_row(
    (ascii(line), line)
    for line in [
        *("", " ", "x", "* * * *", "* * * * * *", "0 0 * * * 2030", "@reboot", "@every 5m"),
        *("60 * * * *", "0 24 * * *", "0 0 0 * *", "0 0 * 13 *", "0 0 * * 8", "*/0 * * * *"),
        *("0 0 30 2 *", "0 0 31 4,6 *", "0 0 29 2 1#1", "H * * * *", "R * * * *", "r(1-5) * * * *"),
        *("٣ * * * *", "0 0 1,,2 * *", "0 0 * * *;x", "0 " * 60 + "* * *"),
    ]
)
def test_a_line_that_is_none_or_never_fires_is_refused(line: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        parse_schedule(line)
    [field] = refused.value.details["fields"]
    assert field["path"] == "schedule_cron"


@pytest.mark.parametrize(
    "timezone", ["", "Mars/Olympus", "../../etc/passwd", "/etc/localtime", "Europe", "a\x00b"]
)
def test_a_zone_that_is_none_is_refused(timezone: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        parse_schedule("0 0 * * *", timezone)
    [field] = refused.value.details["fields"]
    assert field["path"] == "timezone"


def test_a_line_is_kept_with_single_blanks() -> None:
    assert parse_schedule(" 0  0\t* * * ").line == "0 0 * * *"


@given(st.text("0123456789*/,-?#LWH@ adjmonsu", max_size=20))
def test_any_text_is_a_schedule_or_refused(line: str) -> None:
    try:
        schedule = parse_schedule(line)
    except ValidationFailed:
        return
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert next_run(schedule, now) > now

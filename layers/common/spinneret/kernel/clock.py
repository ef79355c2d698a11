"""Clocks as parameters, and the stored form of times."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Function that returns the current time, aware and in UTC."""

Remaining = Callable[[], float]
"""Function that returns the seconds left for a call; it never increases."""


def utc_now() -> datetime:
    """Return the system's current time."""
    return datetime.now(UTC)


def to_iso(moment: datetime) -> str:
    """Return RFC 3339 text in UTC with six decimals, whose string order is the order of time."""
    naive = moment.astimezone(UTC).replace(tzinfo=None)
    return naive.isoformat(timespec="microseconds") + "Z"


def parse_stamp(text: str) -> datetime:
    """Parse the result of `to_iso`."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


def optional_stamp(moment: datetime | None) -> str | None:
    """Return `to_iso`, or None for None."""
    return None if moment is None else to_iso(moment)


def parse_optional_stamp(text: str | None) -> datetime | None:
    """Parse the result of `optional_stamp`."""
    return None if text is None else parse_stamp(text)


def epoch_seconds(moment: datetime) -> int:
    """Return whole seconds since 1970, the format of DynamoDB's TTL."""
    return int(moment.timestamp())


def limit_remaining(remaining: Remaining, most: float) -> Remaining:
    """Limit `remaining` to `most` seconds from now."""
    until = remaining() - most

    def left() -> float:
        now = remaining()
        return min(now - until, now)

    return left

"""Time as a parameter, and the one stored form of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Answers the present moment, aware and in UTC."""

Remaining = Callable[[], float]
"""Answers the seconds that are left of what a call belongs to; never more with time."""


def utc_now() -> datetime:
    """The system's clock."""
    return datetime.now(UTC)


def to_iso(moment: datetime) -> str:
    """RFC 3339 in UTC with six decimals: the order of the strings is the order of time."""
    naive = moment.astimezone(UTC).replace(tzinfo=None)
    return naive.isoformat(timespec="microseconds") + "Z"


def parse_stamp(text: str) -> datetime:
    """The inverse of `stamp`."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


def optional_stamp(moment: datetime | None) -> str | None:
    """`stamp`, and None of None."""
    return None if moment is None else to_iso(moment)


def parse_optional_stamp(text: str | None) -> datetime | None:
    """The inverse of `optional_stamp`."""
    return None if text is None else parse_stamp(text)


def epoch_seconds(moment: datetime) -> int:
    """Whole seconds since 1970, the form that DynamoDB's TTL wants."""
    return int(moment.timestamp())


def limit_remaining(remaining: Remaining, most: float, kept: float = 0.0) -> Remaining:
    """At most `most` seconds from now on, and `kept` seconds less than `remaining`."""
    until = remaining() - most

    def left() -> float:
        now = remaining()
        return min(now - until, now - kept)

    return left

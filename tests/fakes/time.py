"""A clock that moves only when a test moves it."""

from datetime import UTC, datetime, timedelta
from typing import Final

START: Final = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)


class HandClock:
    """Implements `Clock`; a test moves it forward or back."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Return the current time of the test."""
        return self.now

    def advance(self, seconds: float) -> datetime:
        """Move the clock by `seconds`; return the new time."""
        self.now += timedelta(seconds=seconds)
        return self.now


def plenty() -> float:
    """Return a remaining time that never runs out."""
    return 60.0


def late() -> datetime:
    """Return a time after all times of the tests."""
    return START + timedelta(days=36_500)

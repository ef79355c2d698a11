"""A clock that is moved by hand."""

from datetime import UTC, datetime, timedelta
from typing import Final

START: Final = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)


class HandClock:
    """Implements `Clock`; stands still until it is moved, forward or back."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """The present moment."""
        return self.now

    def advance(self, seconds: float) -> datetime:
        """Move by so many seconds and answer the new moment."""
        self.now += timedelta(seconds=seconds)
        return self.now


def plenty() -> float:
    """A Remaining that never runs out."""
    return 60.0


def late() -> datetime:
    """A clock behind which every moment of a test lies."""
    return START + timedelta(days=36_500)

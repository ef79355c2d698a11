"""Rules of preferences."""

from datetime import datetime, timedelta
from typing import Final

from spinneret.marketplace.preferences.models import Preferences

_LOOKS: Final = (timedelta(minutes=1), timedelta(hours=1))


def held_until(preferences: Preferences, now: datetime) -> datetime | None:
    """Return when a job that would list or revise looks again; None if the seller hasn't paused.

    The wait is once more as long as the pause has lasted, 1 to 60 minutes: a short pause ends soon,
    and a long one costs little.
    """
    if preferences.paused_at is None:
        return None
    shortest, longest = _LOOKS
    return now + min(max(now - preferences.paused_at, shortest), longest)

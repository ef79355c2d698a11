"""Schedule of repeated deletions."""

from datetime import datetime, timedelta
from typing import Final

_FIRST: Final = timedelta(hours=1)  # the interval of the scheduled rule
_LONGEST: Final = timedelta(days=1)


def next_try(refusals: int, now: datetime) -> datetime:
    """Return the time of the next try, given all refusals so far: after 1, 2, 4 … 24 hours."""
    return now + min(_FIRST * (1 << min(refusals - 1, 10)), _LONGEST)

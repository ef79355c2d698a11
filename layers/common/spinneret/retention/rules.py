"""When an object is tried again."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

_FIRST: Final = timedelta(hours=1)  # the rule's own interval
_LONGEST: Final = timedelta(days=1)


def next_try(refusals: int, now: datetime) -> datetime:
    """When to try again what was refused so often, this time included: after 1, 2, 4 … 24 hours."""
    return now + min(_FIRST * (1 << min(refusals - 1, 10)), _LONGEST)

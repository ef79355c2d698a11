"""Rules of retries: which requests are repeated, and after which pause."""

from __future__ import annotations

import email.utils
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Final

import httpx

RETRIES: Final = 2
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 8.0
LONGEST_RETRY_AFTER: Final = 60.0
"""Longest wait for a retry, in seconds; a longer one is only in the error."""
TRANSIENT: Final = frozenset({408, 500, 502, 503, 504})
NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True)
class RetryPolicy:
    """Number of retries and the source of their jitter, a function that returns 0 to 1."""

    retries: int
    random: Callable[[], float]
    now: Callable[[], datetime]

    def pause(
        self, outcome: httpx.Response | httpx.RequestError, attempt: int, *, repeatable: bool
    ) -> float | None:
        """Return the seconds before the next attempt; None if there is none.

        A request that isn't `repeatable` is sent again only if the server certainly refused it.
        """
        if attempt > self.retries or not self._may_repeat(outcome, repeatable):
            return None
        asked = retry_after(outcome, self.now()) if isinstance(outcome, httpx.Response) else None
        if asked is not None:
            # Jitter above the requested pause keeps waiting clients from retrying at the same time.
            return asked + 0.1 * self.random() if asked <= LONGEST_RETRY_AFTER else None
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (attempt - 1))
        return longest * (0.5 + 0.5 * self.random())

    def _may_repeat(self, outcome: httpx.Response | httpx.RequestError, repeatable: bool) -> bool:
        if not isinstance(outcome, httpx.Response):
            return repeatable or isinstance(outcome, NEVER_SENT)
        if outcome.status_code == 429:
            return True
        if outcome.status_code == 409:  # another request with the same key is in progress
            return repeatable and "retry-after" in outcome.headers
        return repeatable and outcome.status_code in TRANSIENT


def retry_after(response: httpx.Response, now: datetime) -> float | None:
    """Return the wait in seconds that a response requests, as a number or as a date."""
    text = response.headers.get("retry-after", "").strip()
    if text.isdecimal():
        return float(text)
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - now).total_seconds())

"""The rate limit of a key as pure functions: a sliding window counter.

The requests of the last 60 seconds are estimated as those of this minute plus those of the minute
before, weighted by the share of it that is less than 60 seconds ago (J. Desgats, "How we built rate
limiting capable of scaling to millions of domains", Cloudflare 2017). Second `t` of a minute takes
a request while

    previous * (60 - t) / 60 + count <= limit    and    count < limit

so that one minute never admits more than `limit`, and who keeps to the rate evenly is never
refused. The estimate takes the minute before for even: 60 seconds across two minutes admit at most
one request more than `limit`, plus as many as came later in the minute before than even ones would
have.

DynamoDB compares in a condition but doesn't multiply. Solved for `t`, the first condition reads

    t >= 60 - (limit - count) * 60 / previous

and every admission moves this moment on by 60 / previous. A window therefore holds the moment and
the step, both fixed when its minute begins, and a single conditional update admits a request. The
step is rounded up to a microsecond, in favour of the caller: by less than one request a minute.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from spinneret.kernel import limits
from spinneret.tenancy.models import Allowance, RateWindow

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = 1_000_000
_MINUTE: Final = limits.RATE_WINDOW_SECONDS * _SECOND


def microseconds(moment: datetime) -> int:
    """Since 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def minute_of(moment: datetime) -> int:
    """Since 1970."""
    return microseconds(moment) // _MINUTE


def start_of(minute: int) -> datetime:
    """The inverse of `minute_of`."""
    return _EPOCH + timedelta(seconds=minute * limits.RATE_WINDOW_SECONDS)


def begun(former: RateWindow | None, limit: int, now: datetime) -> RateWindow:
    """A minute's window with its first request, which is always admitted."""
    minute = minute_of(now)
    previous = 0
    if former is not None and former.minute == minute - 1:
        previous = min(former.count, limit)
    step = -(-_MINUTE // previous) if previous else 0
    opens_at = (minute + 1) * _MINUTE - limit * step if previous else minute * _MINUTE
    return spent(RateWindow(minute=minute, count=0, opens_at=opens_at, step=step))


def admits(window: RateWindow, limit: int, now: datetime) -> bool:
    """Whether one more request is admitted in the window's minute."""
    return window.count < limit and window.opens_at <= microseconds(now)


def spent(window: RateWindow) -> RateWindow:
    """One more request was admitted."""
    return replace(window, count=window.count + 1, opens_at=window.opens_at + window.step)


def allowance(window: RateWindow, limit: int, now: datetime, *, admitted: bool) -> Allowance:
    """What to tell the caller; `now` lies in the window's minute."""
    present = microseconds(now)
    remaining = limit - window.count
    if window.step:
        remaining = min(remaining, (present - window.opens_at) // window.step + 1)
    remaining = max(0, remaining)
    more_at = (window.minute + 1) * _MINUTE
    if not remaining and window.count < limit:
        more_at = window.opens_at
    return Allowance(
        admitted=admitted,
        limit=limit,
        remaining=remaining,
        reset_seconds=-((present - more_at) // _SECOND),
    )

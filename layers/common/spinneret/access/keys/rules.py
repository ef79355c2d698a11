"""The rate limit of a key as pure functions: a sliding window over slots of one second.

No 60 seconds, whenever they begin, admit more than `limit` requests. A window counts the requests
of each of the last seconds. A second begins with `room` for the limit minus the requests that still
count. One conditional increment admits a request while there is room.

The only request of its second counts for 60 seconds to the microsecond. A caller who keeps exactly
to a rate of up to 60 per minute is therefore never refused. Several requests of one second count
until 60 seconds after its end, as if all had come last. A caller who uses a higher limit evenly and
in full is refused for up to three requests in a hundred.

A lagging clock counts as the time of the stored window's first request: time never goes back.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from spinneret.access import limits
from spinneret.access.keys.models import RateLimitStatus, SlidingWindow, WindowBucket

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = 1_000_000
_WINDOW: Final = limits.RATE_WINDOW_SECONDS * _SECOND

UNUSED: Final = SlidingWindow(slot=0, began=0, count=0, room=0)
"""Window of a key without requests."""


def slot_of(moment: datetime) -> int:
    """Return the second of a moment, since 1970."""
    return _microseconds(moment) // _SECOND


def useless_at(window: SlidingWindow) -> datetime:
    """Return the time from which no request of the window counts, at the latest."""
    return _EPOCH + timedelta(microseconds=(window.slot + 1) * _SECOND + _WINDOW)


def counted(window: SlidingWindow, limit: int, now: datetime) -> SlidingWindow | None:
    """Return the window with one more request; None if the limit (at least 1) refuses it."""
    moment = _taken_for(now, window)
    slot = moment // _SECOND
    if has_room(window, slot):
        return replace(window, count=window.count + 1)
    if slot == window.slot:
        began, count, past = window.began, window.count, window.past
    else:
        began, count, past = moment, 0, (*window.past, _current(window))
    counting = tuple(each for each in past if _end(each) > moment)
    room = limit - _requests(counting)
    if count >= room:
        return None
    return SlidingWindow(slot=slot, began=began, count=count + 1, room=room, past=counting)


def has_room(window: SlidingWindow, slot: int) -> bool:
    """Return whether the window takes one more request of this slot without a new slot."""
    return window.slot == slot and window.count < window.room


def allowance(
    window: SlidingWindow, limit: int, now: datetime, *, admitted: bool
) -> RateLimitStatus:
    """Return the limit as reported to a caller that the window admitted or refused."""
    moment = _taken_for(now, window)
    counting = [each for each in (*window.past, _current(window)) if _end(each) > moment]
    requests = _requests(counting)
    remaining = max(limit - requests, window.room - window.count, 0) if admitted else 0
    more_at = moment
    for each in counting:
        requests -= each.count
        more_at = _end(each)
        if limit - requests > remaining:
            break
    return RateLimitStatus(
        admitted=admitted,
        limit=limit,
        remaining=remaining,
        reset_seconds=-((_microseconds(now) - more_at) // _SECOND),
    )


def _taken_for(now: datetime, window: SlidingWindow) -> int:
    return max(_microseconds(now), window.began)


def _current(window: SlidingWindow) -> WindowBucket:
    """Return the open slot with the latest time that its last request may have."""
    last = window.began if window.count == 1 else (window.slot + 1) * _SECOND
    return WindowBucket(last=last, count=window.count)


def _end(slot: WindowBucket) -> int:
    return slot.last + _WINDOW


def _requests(slots: tuple[WindowBucket, ...] | list[WindowBucket]) -> int:
    return sum(each.count for each in slots)


def _microseconds(moment: datetime) -> int:
    """Return microseconds since 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1)

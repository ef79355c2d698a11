"""Live processes of all functions, bounded in number."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass


class PoolExhaustedError(Exception):
    """All places were in use for the whole waiting time."""


@dataclass(frozen=True)
class _Idle[T]:
    member: T
    since: float


class WarmPool[T]:
    """At most `limit` members, of which at most `max_idle` are idle; each is owned by one owner.

    A member ends when all places are taken, when too many members are idle, or when it was idle
    for `idle_seconds`: `end` is called with the one that was idle longest, outside the lock. Its
    owner gets a new member at its next use.
    """

    def __init__(
        self,
        limit: int,
        end: Callable[[T], None],
        *,
        max_idle: int,
        idle_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = limit
        self._end = end
        self._max_idle = max_idle
        self._idle_seconds = idle_seconds
        self._clock = clock
        self._changed = threading.Condition()
        self._idle: OrderedDict[str, _Idle[T]] = OrderedDict()  # longest idle first
        self._in_use = 0

    def check_out(self, owner: str, timeout: float) -> T | None:
        """Return the owner's idle member, or None if a place is free for a new member.

        Each call requires a `check_in`. Raises PoolExhaustedError after `timeout` seconds.
        """
        with self._changed:
            if owner in self._idle:
                self._in_use += 1
                return self._idle.pop(owner).member
            if not self._changed.wait_for(self._has_room, timeout):
                raise PoolExhaustedError(
                    f"all {self._limit} places were in use for {timeout:.0f} seconds"
                )
            longest_idle = None
            if self._in_use + len(self._idle) >= self._limit:
                _, longest_idle = self._idle.popitem(last=False)
            self._in_use += 1
        if longest_idle is not None:
            self._end(longest_idle.member)
        return None

    def check_in(self, owner: str, member: T | None) -> None:
        """End a use; None for an ended member frees its place."""
        longest_idle = None
        with self._changed:
            self._in_use -= 1
            if member is not None:
                self._idle[owner] = _Idle(member, self._clock())
            if len(self._idle) > self._max_idle:
                _, longest_idle = self._idle.popitem(last=False)
            self._changed.notify()
        if longest_idle is not None:
            self._end(longest_idle.member)

    def discard(self, owner: str) -> None:
        """End the owner's member if it is idle."""
        with self._changed:
            idle = self._idle.pop(owner, None)
            self._changed.notify()
        if idle is not None:
            self._end(idle.member)

    def end_expired(self) -> float:
        """End the members that were idle too long; return the seconds until the next may be."""
        now = self._clock()
        expired = []
        with self._changed:
            while self._idle:
                owner, first = next(iter(self._idle.items()))
                if now - first.since < self._idle_seconds:
                    break
                expired.append(self._idle.pop(owner).member)
            wait = self._idle_seconds
            if self._idle:
                wait -= now - next(iter(self._idle.values())).since
            self._changed.notify_all()
        for member in expired:
            self._end(member)
        return wait

    def _has_room(self) -> bool:
        return self._in_use < self._limit

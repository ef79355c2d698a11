"""Live processes of all functions, bounded in number."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable


class PoolExhaustedError(Exception):
    """All places were in use for the whole waiting time."""


class WarmPool[T]:
    """At most `limit` members, each in use or idle and owned by one owner.

    When all places are taken, the member that was idle longest is replaced: `end` is called with
    it, outside the lock. Its owner gets a new member at its next use.
    """

    def __init__(self, limit: int, end: Callable[[T], None]) -> None:
        self._limit = limit
        self._end = end
        self._changed = threading.Condition()
        self._idle: OrderedDict[str, T] = OrderedDict()  # longest idle first
        self._in_use = 0

    def check_out(self, owner: str, timeout: float) -> T | None:
        """Return the owner's idle member, or None if a place is free for a new member.

        Each call requires a `check_in`. Raises PoolExhaustedError after `timeout` seconds.
        """
        with self._changed:
            if owner in self._idle:
                self._in_use += 1
                return self._idle.pop(owner)
            if not self._changed.wait_for(self._has_room, timeout):
                raise PoolExhaustedError(
                    f"all {self._limit} places were in use for {timeout:.0f} seconds"
                )
            longest_idle = None
            if self._in_use + len(self._idle) >= self._limit:
                _, longest_idle = self._idle.popitem(last=False)
            self._in_use += 1
        if longest_idle is not None:
            self._end(longest_idle)
        return None

    def check_in(self, owner: str, member: T | None) -> None:
        """End a use; None for an ended member frees its place."""
        with self._changed:
            self._in_use -= 1
            if member is not None:
                self._idle[owner] = member
            self._changed.notify()

    def discard(self, owner: str) -> None:
        """End the owner's member if it is idle."""
        with self._changed:
            member = self._idle.pop(owner, None)
            self._changed.notify()
        if member is not None:
            self._end(member)

    def _has_room(self) -> bool:
        return self._in_use < self._limit

"""Live processes of all functions, bounded in number."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass

# Members are idle for less between the calls of a burst; if they ended then, each call would start
# a new one.
SETTLE_SECONDS = 10.0
# Time that an idle member is kept for calls of its own kind while others wait.
RESERVED_SECONDS = 0.5


class PoolExhaustedError(Exception):
    """All places were in use for the whole waiting time."""


@dataclass(frozen=True)
class _Idle[T]:
    kind: Hashable
    member: T
    since: float


class WarmPool[T]:
    """At most `limit` members, of which at most `max_idle` are idle; each is of one kind.

    A member ends when another kind needs its place, when it was idle for `idle_seconds`, or when
    too many are idle, after SETTLE_SECONDS: `end` is called with the one that was idle longest,
    outside the lock.
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
        self._idle: list[_Idle[T]] = []  # longest idle first
        self._in_use: Counter[Hashable] = Counter()

    def check_out(self, kind: Hashable, timeout: float) -> T | None:
        """Return an idle member of the kind, or None if a place is free for a new member.

        A kind without members gets the place of any idle one; others wait until that was idle for
        RESERVED_SECONDS. Each call requires a `check_in`. Raises PoolExhaustedError after `timeout`
        seconds.
        """
        deadline = self._clock() + timeout
        with self._changed:
            while not self._can_serve(kind):
                left = deadline - self._clock()
                if left <= 0:
                    raise PoolExhaustedError(
                        f"all {self._limit} places were in use for {timeout:.0f} seconds"
                    )
                self._changed.wait(min(left, RESERVED_SECONDS))
            known = self._newest(kind)
            ended = self._idle.pop(0) if known is None and not self._has_room() else None
            if known is not None:
                self._idle.remove(known)
            self._in_use[kind] += 1
        if ended is not None:
            self._end(ended.member)
        return None if known is None else known.member

    def check_in(self, kind: Hashable, member: T | None) -> None:
        """End a use; None for an ended member frees its place."""
        with self._changed:
            self._in_use[kind] -= 1
            if member is not None:
                self._idle.append(_Idle(kind, member, self._clock()))
            self._changed.notify_all()

    def discard(self, kind: Hashable) -> None:
        """End the idle members of a kind."""
        with self._changed:
            ended = [each for each in self._idle if each.kind == kind]
            self._idle = [each for each in self._idle if each.kind != kind]
            self._changed.notify_all()
        for each in ended:
            self._end(each.member)

    def end_expired(self) -> None:
        """End the members that were idle too long."""
        expired = []
        with self._changed:
            while self._idle:
                crowded = len(self._idle) > self._max_idle
                if not self._was_idle_for(SETTLE_SECONDS if crowded else self._idle_seconds):
                    break
                expired.append(self._idle.pop(0))
            self._changed.notify_all()
        for each in expired:
            self._end(each.member)

    def _can_serve(self, kind: Hashable) -> bool:
        if self._newest(kind) is not None or self._has_room():
            return True
        return bool(self._idle) and (not self._in_use[kind] or self._was_idle_for(RESERVED_SECONDS))

    def _has_room(self) -> bool:
        return self._in_use.total() + len(self._idle) < self._limit

    def _newest(self, kind: Hashable) -> _Idle[T] | None:
        return next((each for each in reversed(self._idle) if each.kind == kind), None)

    def _was_idle_for(self, seconds: float) -> bool:
        """Return whether the first member was idle for so long."""
        return self._clock() - self._idle[0].since >= seconds

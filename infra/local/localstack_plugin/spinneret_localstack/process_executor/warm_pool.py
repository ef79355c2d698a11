"""Live processes of all functions, bounded in number."""

import itertools
import threading
import time
from collections import Counter, defaultdict
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
    member: T
    since: float
    number: int
    """Grows with each member that becomes idle."""


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
        self._numbers = itertools.count()
        self._idle: defaultdict[Hashable, list[_Idle[T]]] = defaultdict(list)
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
            if self._idle[kind]:
                self._in_use[kind] += 1
                return self._idle[kind].pop().member
            ended = None if self._has_room() else self._pop_longest_idle()
            self._in_use[kind] += 1
        if ended is not None:
            self._end(ended)
        return None

    def check_in(self, kind: Hashable, member: T | None) -> None:
        """End a use; None for an ended member frees its place."""
        with self._changed:
            self._in_use[kind] -= 1
            if member is not None:
                self._idle[kind].append(_Idle(member, self._clock(), next(self._numbers)))
            self._changed.notify_all()

    def discard(self, kind: Hashable) -> None:
        """End the idle members of a kind."""
        with self._changed:
            ended = self._idle.pop(kind, [])
            self._changed.notify_all()
        for each in ended:
            self._end(each.member)

    def end_expired(self) -> None:
        """End the members that were idle too long."""
        expired = []
        with self._changed:
            while (longest := self._longest_idle()) is not None:
                crowded = sum(map(len, self._idle.values())) > self._max_idle
                limit = SETTLE_SECONDS if crowded else self._idle_seconds
                if self._idle_for(longest) < limit:
                    break
                expired.append(self._idle[longest].pop(0).member)
            self._changed.notify_all()
        for member in expired:
            self._end(member)

    def _can_serve(self, kind: Hashable) -> bool:
        if self._idle[kind] or self._has_room():
            return True
        longest = self._longest_idle()
        if longest is None:
            return False
        return not self._in_use[kind] or self._idle_for(longest) >= RESERVED_SECONDS

    def _has_room(self) -> bool:
        return self._in_use.total() + sum(map(len, self._idle.values())) < self._limit

    def _pop_longest_idle(self) -> T:
        return self._idle[self._longest_idle()].pop(0).member

    def _longest_idle(self) -> Hashable | None:
        kinds = [kind for kind, members in self._idle.items() if members]
        return min(kinds, key=lambda kind: self._idle[kind][0].number, default=None)

    def _idle_for(self, kind: Hashable) -> float:
        return self._clock() - self._idle[kind][0].since

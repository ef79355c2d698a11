"""Values that a process read lately."""

from collections.abc import Callable
from datetime import datetime, timedelta


class Recent[K, V]:
    """Values by key, each for some seconds after it was read; the oldest ones leave.

    Threads may share it: two of them may read the same value. An error of a read isn't kept: the
    next one tries again.
    """

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds = timedelta(seconds=seconds)
        self._most = most
        self._known: dict[K, tuple[datetime, V]] = {}

    def get(self, key: K, now: datetime, read: Callable[[], V]) -> V:
        """Return the value, read again unless it was read within these seconds."""
        known = self._known.get(key)
        if known is None or not timedelta() <= now - known[0] < self._seconds:
            self.forget(key)
            known = now, read()
            if len(self._known) >= self._most:
                self.forget(next(iter(tuple(self._known))))
            self._known[key] = known
        return known[1]

    def forget(self, key: K) -> None:
        """Have the value read again the next time."""
        self._known.pop(key, None)

"""Progress lines for the user, with durations."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """Writes whole lines, also from several threads at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def say(self, line: str) -> None:
        with self._lock:
            print(line, flush=True)

    def warn(self, line: str) -> None:
        with self._lock:
            print(line, file=sys.stderr, flush=True)

    @contextmanager
    def step(self, doing: str, done: str) -> Iterator[None]:
        """Announce a slow step and, if it succeeds, print its duration."""
        self.say(f"{doing} …")
        begin = time.monotonic()
        yield
        self.say(f"{done} … {time.monotonic() - begin:.0f} s")

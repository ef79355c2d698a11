"""Two calls at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Final

_THREADS: Final = 4  # a function answers one request at a time, which needs one


class AtOnce:
    """Runs two calls at the same time; keeps its threads for the life of the process."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max_workers=_THREADS)

    def both[A, B](self, first: Callable[[], A], second: Callable[[], B]) -> tuple[A, B]:
        """Return both results; `second` runs in another thread. Raise what either one raises,
        after both have ended."""
        other = self._threads.submit(second)
        try:
            return first(), other.result()
        finally:
            wait([other])

"""Threads that start together."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any, Final

Race = Callable[[Callable[[int], Any]], list[Any]]
"""Function that calls another with each thread's number, in all threads at once, and returns the
results."""

_DEADLINE_SECONDS: Final = 60.0


@contextmanager
def racing(threads: int) -> Iterator[Race]:
    """Provide `threads` threads for any number of races."""
    barrier = Barrier(threads, timeout=_DEADLINE_SECONDS)

    def together(act: Callable[[int], Any]) -> list[Any]:
        def start(number: int) -> Any:
            barrier.wait()
            return act(number)

        return list(pool.map(start, range(threads), timeout=_DEADLINE_SECONDS))

    with ThreadPoolExecutor(threads) as pool:
        yield together

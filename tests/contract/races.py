"""Threads that start together."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any, Final

Race = Callable[[Callable[[int], Any]], list[Any]]
"""Runs a function in every thread, given the thread's number; answers what each answered."""

_DEADLINE_SECONDS: Final = 60.0


@contextmanager
def racing(threads: int) -> Iterator[Race]:
    """So many threads, for any number of races."""
    barrier = Barrier(threads, timeout=_DEADLINE_SECONDS)

    def together(act: Callable[[int], Any]) -> list[Any]:
        def start(number: int) -> Any:
            barrier.wait()
            return act(number)

        return list(pool.map(start, range(threads), timeout=_DEADLINE_SECONDS))

    with ThreadPoolExecutor(threads) as pool:
        yield together

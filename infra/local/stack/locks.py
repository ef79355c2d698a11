"""Locks between processes (and threads) that use the same folders."""

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stack.errors import StackError

POLL_SECONDS = 0.1


@contextmanager
def exclusive(path: Path, *, on_wait: Callable[[], None], timeout: float) -> Iterator[None]:
    """Hold the lock file; `on_wait` is called once if another process holds it.

    The kernel releases the lock when its holder ends, so a killed command leaves no lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + timeout
    announced = False
    with path.open("a") as lock:
        while not _try_lock(lock.fileno()):
            if not announced:
                on_wait()
                announced = True
            if time.monotonic() > deadline:
                raise StackError(f"{path} is still held by another command after {timeout:.0f} s")
            time.sleep(POLL_SECONDS)
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

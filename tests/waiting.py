"""Waits for what other processes do."""

import time
from collections.abc import Callable


def waited[Seen](
    look: Callable[[], Seen],
    enough: Callable[[Seen], object] = bool,
    *,
    seconds: float,
    pause: float = 0.1,
) -> Seen:
    """What a look shows as soon as that is enough. Fails after `seconds`, with the last look."""
    deadline = time.monotonic() + seconds
    while not enough(seen := look()):
        assert time.monotonic() < deadline, f"after {seconds:.0f} s: {seen}"
        time.sleep(pause)
    return seen

"""Wait for effects of other processes."""

import time
from collections.abc import Callable


def waited[Seen](
    look: Callable[[], Seen],
    enough: Callable[[Seen], object] = bool,
    *,
    seconds: float,
    pause: float = 0.1,
) -> Seen:
    """Call `look` until its result is `enough`, and return it.

    Fails after `seconds`, with the last result.
    """
    deadline = time.monotonic() + seconds
    while not enough(seen := look()):
        assert time.monotonic() < deadline, f"after {seconds:.0f} s: {seen}"
        time.sleep(pause)
    return seen

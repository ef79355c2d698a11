"""Values read recently are cached for a limited time, and only some of them are kept."""

from collections.abc import Callable

import pytest

from spinneret.kernel.recent import Recent
from tests.fakes.time import HandClock

KEPT = 2


@pytest.fixture
def read(clock: HandClock) -> Callable[[str], int]:
    """Provide a function that reads a key and returns the number of the underlying read."""
    recent, reads = Recent[str, int](5.0, KEPT), iter(range(1, 100))
    return lambda key: recent.get(key, clock(), lambda: next(reads))


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def test_a_value_is_read_once_within_its_time(read: Callable[[str], int], clock: HandClock) -> None:
    found = [read("a")]
    for seconds in (4.999, 0.001, -0.001):  # a clock that was set back proves nothing
        clock.advance(seconds)
        found.append(read("a"))
    assert found == [1, 1, 2, 3]


def test_the_oldest_value_leaves_for_one_more(read: Callable[[str], int]) -> None:
    assert [read(key) for key in ("a", "b", "a", "c", "b", "a")] == [1, 2, 1, 3, 2, 4]


def test_a_failed_read_is_tried_again_and_forgotten_values_too() -> None:
    recent, now = Recent[str, int](5.0, KEPT), HandClock()()
    with pytest.raises(ZeroDivisionError):
        recent.get("a", now, lambda: 1 // 0)
    assert recent.get("a", now, lambda: 1) == 1
    recent.forget("a")
    assert recent.get("a", now, lambda: 2) == 2

"""Two calls at the same time."""

from threading import Barrier, Event

import pytest

from spinneret.content.search.at_once import AtOnce


def test_both_calls_run_at_the_same_time() -> None:
    together = Barrier(2, timeout=10.0)
    first, second = AtOnce().both(together.wait, together.wait)
    assert {first, second} == {0, 1}


@pytest.mark.parametrize("fails_first", [True, False])
def test_an_error_of_either_is_raised_once_both_have_ended(*, fails_first: bool) -> None:
    ended = Event()

    def fail() -> None:
        raise KeyError

    calls = (fail, ended.set) if fails_first else (ended.set, fail)
    with pytest.raises(KeyError):
        AtOnce().both(*calls)
    assert ended.is_set()

from collections.abc import Iterator

import pytest

from spinneret.kernel.errors import Contended
from spinneret.kernel.races import changing, until_written


def answers(*values: str | bool | None) -> Iterator[str | bool | None]:
    return iter(values)


def test_an_attempt_is_repeated_until_no_other_was_first() -> None:
    tried = answers(None, False, "written", "not reached")

    assert until_written(lambda: next(tried), changing("the tag")) == "written"
    assert next(tried) == "not reached"


@pytest.mark.parametrize("empty", ["", 0, ()])
def test_an_empty_result_counts_as_written(empty: object) -> None:
    assert until_written(lambda: empty, changing("the tag")) == empty


def test_after_its_tries_the_error_is_raised() -> None:
    tried = answers(None, None, None, "too late")

    with pytest.raises(Contended, match="the target is being changed by others"):
        until_written(lambda: next(tried), changing("the target", Contended), tries=3)
    assert next(tried) == "too late"

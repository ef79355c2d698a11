"""Tables of which the quick loop takes a sample."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(values: Iterable[Any], quick: int = 1) -> list[Any]:
    """Return all values as parameters; all but the first few are for `make test`."""
    given = list(values)
    return given[:quick] + [pytest.param(each, marks=pytest.mark.heavy) for each in given[quick:]]

"""Samples of tables: a small one for the quick loop and a larger one for `make test`."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(values: Iterable[Any], quick: int = 1, tested: int | None = None) -> list[Any]:
    """Return all values as parameters: a few for all runs, more for `make test`.

    quick: number of first values for all runs.

    tested: number of first values for `make test`; the rest is for `make prove`. None means all.
    """
    given = list(values)
    tested = len(given) if tested is None else tested
    return [
        pytest.param(each, marks=_marks(number, quick, tested)) for number, each in enumerate(given)
    ]


def spread(values: Iterable[Any], number: int) -> list[Any]:
    """Reorder the values so that the first `number` are evenly spread over the given order."""
    given = list(values)
    step = max(1, len(given) // number)
    first = given[::step][:number]
    return first + [each for each in given if each not in first]


def _marks(number: int, quick: int, tested: int) -> list[pytest.MarkDecorator]:
    if number < quick:
        return []
    return [pytest.mark.heavy] if number < tested else [pytest.mark.heavy, pytest.mark.proof]

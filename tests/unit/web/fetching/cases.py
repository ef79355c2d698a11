"""The tables of tests/cases/{addresses,urls,redirects,dns}.json.

The field `source` of a case names the standard, or the row of the requirements, that requires it.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.rows import each_row

Case = dict[str, Any]
_FOLDER = Path(__file__).resolve().parents[3] / "cases"


def table(file: str, name: str) -> Callable[[Callable[[Case], None]], Callable[[], None]]:
    """Turn a check into one test that runs it with each `case` of a table."""
    return each_row((_name(case), case) for case in _read(file, name))


def each_case(file: str, name: str) -> pytest.MarkDecorator:
    """Run a test once per `case` of a table, each time with new fixtures."""
    cases = _read(file, name)
    return pytest.mark.parametrize("case", cases, ids=[_name(case) for case in cases])


def _read(file: str, name: str) -> list[Case]:
    cases: list[Case] = json.loads((_FOLDER / f"{file}.json").read_text("utf-8"))[name]
    return cases


def _name(case: Case) -> str:
    return ascii(case["input"]).strip("'")[:60] or "nothing"

"""The tables of tests/cases/{addresses,urls,redirects,dns}.json.

Of each case `source` names the standard, or the row of the requirements, that asks for it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

Case = dict[str, Any]
_FOLDER = Path(__file__).resolve().parents[3] / "cases"


def table(file: str, name: str) -> pytest.MarkDecorator:
    """Runs a test once per `case` of a table."""
    cases = json.loads((_FOLDER / f"{file}.json").read_text("utf-8"))[name]
    return pytest.mark.parametrize("case", cases, ids=[_name(case) for case in cases])


def _name(case: Case) -> str:
    return ascii(case["input"]).strip("'")[:60] or "nothing"

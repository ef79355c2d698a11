"""docs/requirements.md names code and tests that exist, and tests name its rows.

The comment `# covers P-04`, above a test or at the top of its module, marks a proof of that row.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import pytest

from tests.architecture.conftest import ROOT

CODE: Final = (ROOT / "layers" / "common" / "spinneret", ROOT / "functions", ROOT)
TESTS: Final = ROOT / "tests"
ID: Final = re.compile(r"([A-Z])-(\d\d)")
COMMENT: Final = re.compile(r"^ *# covers\b *(.*)$", re.MULTILINE)


class Row(NamedTuple):
    """One row of a table."""

    id: str
    behaviour: str
    code: tuple[str, ...]
    tests: tuple[str, ...]


@pytest.fixture(scope="module")
def requirements() -> Sequence[Row]:
    """Provide the rows of the page."""
    return _rows((ROOT / "docs" / "requirements.md").read_text())


@pytest.fixture(scope="module")
def covering() -> Mapping[str, set[str]]:
    """Provide the test files by the ids in their comments."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in TESTS.rglob("*.py"):
        for ids in COMMENT.findall(path.read_text()):
            for each in ids.split(", "):
                found[each].add(path.relative_to(TESTS).as_posix())
    return dict(found)


def test_every_row_names_the_tests_that_cover_it(
    requirements: Sequence[Row], covering: Mapping[str, set[str]]
) -> None:
    wrong = {
        row.id: (set(row.tests), covering.get(row.id, set()))
        for row in requirements
        if not row.tests or set(row.tests) != covering.get(row.id)
    }
    assert wrong == {}, "(named by the row, commented in tests)"


def test_every_comment_names_a_row(
    requirements: Sequence[Row], covering: Mapping[str, set[str]]
) -> None:
    rows = {row.id for row in requirements}
    assert {each: files for each, files in covering.items() if each not in rows} == {}


def test_every_path_of_a_row_exists(requirements: Sequence[Row]) -> None:
    missing = [
        (row.id, path)
        for row in requirements
        for paths, folders in ((row.code, CODE), (row.tests, (TESTS,)))
        for path in paths or ["none"]
        if not any((folder / path).exists() for folder in folders)
    ]
    assert missing == []


def test_the_numbers_of_an_area_have_no_gap(requirements: Sequence[Row]) -> None:
    numbers: defaultdict[str, set[int]] = defaultdict(set)
    assert len({row.id for row in requirements}) == len(requirements), "an id has two rows"
    for row in requirements:
        found = ID.fullmatch(row.id)
        assert found, row.id
        numbers[found[1]].add(int(found[2]))
    assert dict(numbers) == {area: set(range(1, max(of) + 1)) for area, of in numbers.items()}


def _rows(text: str) -> Sequence[Row]:
    """Return the rows of all tables without their headers."""
    lines = [line for line in text.splitlines() if line.startswith("| ") and line[2:4] != "id"]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [
        Row(name, behaviour, *(tuple(re.findall("`(.+?)`", cell)) for cell in (code, tests)))
        for name, behaviour, code, tests in rows
    ]

"""A run says which test noticed a mutant, and says nothing about one that isn't valid."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.mutation.mutants import Mutant
from tests.mutation.runs import RunFailed, Runs, Selection

ROOT = Path(__file__).resolve().parents[2]
MODULE = 'CONDITION = "#a = :a AND #b = :b"\nUNUSED = CONDITION\n'
TEST = """
from module import CONDITION

def test_that_passes(): pass
def test_that_notices(): assert CONDITION == "#a = :a AND #b = :b"
"""
CHOSEN = Selection(paths=("tests/unit",))
CONDITION = slice(MODULE.index('"'), MODULE.index("\n"))
UNUSED = slice(MODULE.rindex("CONDITION"), len(MODULE) - 1)
WEAKENED = '__import__("tests.mutation.expressions", fromlist=["weakened"]).weakened'


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    """Runs in copies of a tree with one module and its tests."""
    root = tmp_path / "root"
    shutil.copytree(ROOT / "tests" / "mutation", root / "tests" / "mutation")
    (root / "tests" / "unit").mkdir()
    (root / "tests" / "unit" / "test_module.py").write_text(TEST)
    (root / "module.py").write_text(MODULE)
    (root / "pytest.ini").write_text("[pytest]\nmarkers = stack\n")
    return Runs(root=root, folder=tmp_path / "copies", copies=1)


def mutant(edit: str, where: slice = CONDITION) -> Mutant:
    span = where.start, where.stop
    return Mutant(name="module.py:f: a", path="module.py", span=span, edit=edit)


def test_a_mutant_is_killed_by_the_test_that_notices_it_and_is_gone_afterwards(runs: Runs) -> None:
    assert runs.baseline(CHOSEN) > 0
    runs.split()
    killed = runs.with_mutant(mutant(f"{WEAKENED}({{}}, 1, 3)"), CHOSEN)
    assert killed.killed_by == "tests/unit/test_module.py::test_that_notices"
    survivor = mutant(f"{WEAKENED}({{}}, 1, 3)", UNUSED)
    assert runs.with_mutant(survivor, CHOSEN).killed_by is None
    assert (runs.root / "module.py").read_text() == MODULE


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (f"{WEAKENED}({{}}, 1, 2)", "another shape"),
        ("{} +", "SyntaxError"),
        ("{}, 'Invalid ConditionExpression'", "Invalid ConditionExpression"),
    ],
    ids=["another shape", "broken source", "refused request"],
)
def test_a_mutant_that_is_not_valid_is_not_called_killed(
    runs: Runs, edit: str, reason: str
) -> None:
    runs.split()
    with pytest.raises(RunFailed, match=reason):
        runs.with_mutant(mutant(edit), CHOSEN)


def test_nothing_is_said_when_the_tests_fail_without_a_mutant(runs: Runs) -> None:
    (runs.pristine / "module.py").write_text("CONDITION = 0\n")
    with pytest.raises(RunFailed, match="fail without a mutant"):
        runs.baseline(CHOSEN)
    with pytest.raises(RunFailed, match="no tests at tests/nowhere"):
        runs.baseline(Selection(paths=("tests/nowhere",)))

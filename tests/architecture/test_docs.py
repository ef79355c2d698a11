"""What documentation takes from the code is up to date."""

from __future__ import annotations

import re
import runpy

from tests.architecture.conftest import ROOT


def test_the_state_machine_is_documented_as_it_is() -> None:
    render = runpy.run_path(str(ROOT / "docs" / "render.py"))
    text = (ROOT / "docs" / "jobs.md").read_text()
    assert render["rendered"](text) == text, "run python docs/render.py"


def test_every_row_of_the_failure_matrix_names_a_test_that_is_there() -> None:
    text = (ROOT / "docs" / "proofs.md").read_text()
    matrix = text.partition("<!-- matrix -->")[2].partition("<!-- end matrix -->")[0]
    rows = re.findall(r"^\| F(\d+) .*\| `(.+)::(\w+)` \|$", matrix, re.MULTILINE)
    assert len(rows) >= 23
    for number, file, name in rows:
        assert f"def {name}(" in (ROOT / file).read_text(), f"F{number}: {file}::{name}"

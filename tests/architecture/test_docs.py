"""What documentation takes from the code is up to date."""

from __future__ import annotations

import runpy

from tests.architecture.conftest import ROOT


def test_the_state_machine_is_documented_as_it_is() -> None:
    render = runpy.run_path(str(ROOT / "docs" / "render.py"))
    text = (ROOT / "docs" / "jobs.md").read_text()
    assert render["rendered"](text) == text, "run python docs/render.py"

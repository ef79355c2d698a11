"""Writes what documentation takes from the code: `python docs/render.py`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FUNCTIONS = ROOT / "functions"
sys.path[:0] = [str(ROOT / "layers" / "common"), str(FUNCTIONS)]

from spinneret.jobs.models import JobStatus, Transition  # noqa: E402 - after the path above
from spinneret.jobs.rules import TERMINAL, TRANSITIONS  # noqa: E402 - after the path above
from spinneret.runtime.openapi.document import document, text_of  # noqa: E402 - after the path above

JOBS = ROOT / "docs" / "jobs.md"
OPENAPI = ROOT / "layers" / "common" / "spinneret" / "runtime" / "openapi" / "openapi.json"
BEGIN, END = "<!-- transitions -->\n", "<!-- end -->\n"


def transitions() -> str:
    """The state machine as a Markdown table: a row per move, a column per state that has one."""
    states = [status for status in JobStatus if any(origin is status for origin, _ in TRANSITIONS)]
    lines = ["| move \\ from | " + " | ".join(states) + " |", "|---" * (len(states) + 1) + "|"]
    for move in Transition:
        targets = [TRANSITIONS.get((status, move), "") for status in states]
        lines.append(f"| {move} | " + " | ".join(targets) + " |")
    resting = ", ".join(status for status in JobStatus if status in TERMINAL)
    return "\n".join([*lines, "", f"Terminal: {resting}."]) + "\n"


def rendered(text: str) -> str:
    """The page with its table as the code has it."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + transitions() + END + after


def openapi() -> str:
    """The API's document, of every area that has an API."""
    areas = sorted(path.parent.name for path in FUNCTIONS.glob("*/api.py"))
    return text_of(document(importlib.import_module(f"{area}.api").app for area in areas))


if __name__ == "__main__":
    JOBS.write_text(rendered(JOBS.read_text()))
    OPENAPI.write_text(openapi())

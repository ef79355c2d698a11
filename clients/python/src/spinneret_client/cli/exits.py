"""Exit codes of the command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import typer

DONE: Final = 0
FAULT: Final = 1
GATE: Final = 2
SIGN_IN: Final = 4
UNFINISHED: Final = 8
INTERRUPTED: Final = 130

HELP: Final = (
    "Exit codes: 0 done; 1 fault or bad usage; 2 a gate tripped (broken link, score below the"
    " limit); 4 sign in first; 8 unfinished or done in part; 130 interrupted."
)


def code_of(statuses: Iterable[str]) -> int:
    """Return the exit code for the states of jobs.

    It is DONE if all jobs completed, FAULT if all failed, expired or were cancelled, else
    UNFINISHED.
    """
    found = set(statuses)
    if found & {"failed", "cancelled", "expired"}:
        return FAULT if found <= {"failed", "cancelled", "expired"} else UNFINISHED
    return DONE if found <= {"completed"} else UNFINISHED


def leave(code: int) -> None:
    """End the command with a code other than 0."""
    if code:
        raise typer.Exit(code)

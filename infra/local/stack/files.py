"""Small files that other processes may read during a write."""

import json
import os
from pathlib import Path
from typing import Any


def write_json(path: Path, value: Any) -> None:
    """Replace the file atomically: a reader gets the old or the new text, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    draft.write_text(json.dumps(value, indent=2) + "\n")
    draft.replace(path)


def last_lines(path: Path, count: int) -> list[str]:
    """Return the last lines of a text file without reading a large one whole; [] if missing."""
    block = 400 * count
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - block))
            text = file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    lines = text.splitlines()
    if size > block:
        lines = lines[1:]  # the first one may be incomplete
    return lines[-count:]

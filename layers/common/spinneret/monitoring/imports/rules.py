"""Parse CSV files of targets. All functions are pure."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spinneret.kernel.errors import ValidationFailed
from spinneret.monitoring import limits

COLUMNS: Final = (
    "url",
    "name",
    "interval_seconds",
    "method",
    "failure_threshold",
    "recovery_threshold",
    "degraded_ms",
    "condition",
    "watch_content",
    "public",
)
_MARK: Final = "\ufeff"


@dataclass(frozen=True)
class ImportLine:
    """One target to create, as given; the line number counts from 1."""

    number: int
    values: Mapping[str, Any]
    refusal: str | None = None
    """Reason why the line can't be read; None if it can."""


def lines_of(text: str) -> list[ImportLine]:
    """Return the non-empty lines of a CSV file without their empty cells.

    Raises ValidationFailed for a missing `url` column, an unknown column, or more than
    IMPORT_LINES_MAX lines.
    """
    try:
        rows = list(_rows(text))
    except csv.Error as error:
        raise _refused(f"is not a CSV file: {error}") from error
    if not rows:
        raise _refused("has no lines")
    columns: Sequence[str] = [cell.strip().lower() for cell in rows[0][1]]
    if "url" in columns:
        rows = rows[1:]
    elif all(len(cells) == 1 for _, cells in rows):
        columns = ["url"]
    else:
        raise _refused("names no column `url` in its first line")
    unknown = sorted(set(columns) - {*COLUMNS, ""})
    if unknown or len(set(columns)) < len(columns):
        raise _refused(f"may have these columns, each once: {', '.join(COLUMNS)}")
    if len(rows) > limits.IMPORT_LINES_MAX:
        raise _refused(f"has more than {limits.IMPORT_LINES_MAX} lines")
    return [_line(number, columns, cells) for number, cells in rows]


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield non-empty lines, ended by CR, LF or both, without the empty cells at their ends."""
    source = io.StringIO(text.removeprefix(_MARK), newline="")
    reader = csv.reader(source, strict=True)
    for cells in reader:
        while cells and not cells[-1].strip():
            cells.pop()
        if cells:
            yield reader.line_num, cells


def _line(number: int, columns: Sequence[str], cells: Sequence[str]) -> ImportLine:
    named = dict(zip(columns, (cell.strip() for cell in cells), strict=False))
    values: dict[str, Any] = {name: cell for name, cell in named.items() if name and cell}
    if condition := values.pop("condition", None):
        values["conditions"] = [condition]
    many = f"has {len(cells)} cells for {len(columns)} columns"
    return ImportLine(number, values, many if len(cells) > len(columns) else None)


def _refused(reason: str) -> ValidationFailed:
    return ValidationFailed.of_field("csv", reason, error=f"the file {reason}")

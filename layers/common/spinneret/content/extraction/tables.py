"""Arranges a table's cells in a grid; spans are expanded so that columns stay aligned."""

from collections.abc import Callable, Iterator
from typing import Final

from lxml import etree

_MAX_SPAN: Final = 100
"""Limit of a cell's span. HTML allows 1000 columns, but no readable table has this many."""
MAX_CELLS: Final = 50_000
"""After this number of cells of a page, spans count as 1."""
_MAX_REPEATED: Final = 500_000
"""Characters that the cells of a page repeat below; a cell that would exceed them is shown once."""

_CELLS: Final = ("td", "th")
_SECTIONS: Final = ("thead", "tbody", "tfoot")
_ROWS: Final = ("tr", "caption", "colgroup", "col", *_SECTIONS)


class Grids:
    """Arranges the tables of one page, whose spans share one limit."""

    def __init__(self) -> None:
        self._cells = self._repeated = 0

    def lines(
        self,
        table: etree._Element,
        render: Callable[[etree._Element], str],
        skips: Callable[..., bool],
    ) -> list[list[str]]:
        """Return the rows of a table; missing cells are empty.

        A cell that spans columns is followed by empty ones. A cell that spans rows is repeated
        below, since it describes those rows, too.
        """
        lines: list[list[str]] = []
        hanging: dict[int, tuple[int, str]] = {}
        for row in rows(table):
            line: list[str] = []
            for cell in row:
                if cell.tag not in _CELLS or skips(cell):
                    continue
                _hang(line, hanging)
                text = render(cell)
                is_plain = self._cells + len(line) > MAX_CELLS
                down = 1 if is_plain else self._down(cell, text)
                for part in range(1 if is_plain else _span(cell.get("colspan"))):
                    shown = text if part == 0 else ""
                    if down > 1:
                        hanging[len(line)] = (down - 1, shown)
                    line.append(shown)
            _hang(line, hanging)
            self._cells += len(line)
            if self._cells > MAX_CELLS:
                hanging.clear()
            if line:
                lines.append(line)
        return lines

    def _down(self, cell: etree._Element, text: str) -> int:
        """Return the number of rows in which a cell is shown."""
        down = _span(cell.get("rowspan"))
        more = (down - 1) * len(text)
        if self._repeated + more > _MAX_REPEATED:
            return 1
        self._repeated += more
        return down


def rows(table: etree._Element) -> Iterator[etree._Element]:
    """Yield the table's own rows, without rows of nested tables."""
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in _SECTIONS:
            yield from child.iterchildren("tr")


def beside_cells(table: etree._Element) -> Iterator[etree._Element | str]:
    """Yield what a table has outside of its caption and its rows' cells, in order: texts, and
    elements such as a form around cells."""
    sections = (child for child in table if child.tag in _SECTIONS)
    for part in (table, *sections, *rows(table)):
        expected = _CELLS if part.tag == "tr" else _ROWS
        yield part.text or ""
        for child in part:
            if child.tag not in expected:
                yield child
            yield child.tail or ""


def _hang(line: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """Append the cells of rows above that span into this row."""
    while (found := hanging.pop(len(line), None)) is not None:
        left, text = found
        if left > 1:
            hanging[len(line)] = (left - 1, text)
        line.append(text)


def _span(value: str | None) -> int:
    digits = (value or "").strip()
    return min(max(1, int(digits)), _MAX_SPAN) if digits.isdecimal() and len(digits) < 6 else 1

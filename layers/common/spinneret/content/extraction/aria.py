"""Headings and tables that a page declares by ARIA roles only."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from lxml import html

from spinneret.content.extraction.vocabulary import BLOCKS

_NEUTRAL: Final = frozenset({"div", "span", "p", "section"})
_CELLS: Final = {"cell": "td", "columnheader": "th", "rowheader": "th"}
_LEVELS: Final = frozenset("123456")
_HEADING_CHARS: Final = 200
_HEADING_TEXTS: Final = 50
"""Texts of a heading that are read; headings inside each other share them."""
_WITH_ROLE: Final = "//*[@role = 'heading' or @role = 'table']"


def name_by_roles(root: html.HtmlElement) -> None:
    """Give headings and tables of neutral elements the tags that their roles stand for: engines and
    renderer read tags, so that the cells of such a table ran together."""
    for element in root.xpath(_WITH_ROLE):
        if element.tag not in _NEUTRAL:
            continue
        if element.get("role") == "table":
            _name_table(element)
        elif _is_line(element):
            level = element.get("aria-level")
            element.tag = f"h{level if level in _LEVELS else 2}"


def _is_line(heading: html.HtmlElement) -> bool:
    """Return whether a heading is no text of its own: some pages declare their comments so."""
    texts = islice(heading.itertext(), _HEADING_TEXTS)
    is_short = sum(map(len, texts)) <= _HEADING_CHARS
    return is_short and all(child.tag not in BLOCKS for child in heading)


def _name_table(table: html.HtmlElement) -> None:
    rows = list(_rows(table))
    cells = [[cell for cell in row if cell.get("role") in _CELLS] for row in rows]
    if not rows or not all(cells):
        return
    table.tag = "table"
    for row, its_cells in zip(rows, cells, strict=True):
        row.tag = "tr"
        group = row.getparent()
        if group is not table:
            group.tag = "tbody"
        for cell in its_cells:
            cell.tag = _CELLS[cell.get("role")]


def _rows(table: html.HtmlElement) -> Iterator[html.HtmlElement]:
    for child in table:
        role = child.get("role")
        if role == "row":
            yield child
        elif role == "rowgroup":
            yield from (row for row in child if row.get("role") == "row")

"""Converts chosen runs to elements: selects what to render and what to skip."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from lxml import etree

from spinneret.content.extraction.ancestry import nearest
from spinneret.content.extraction.page import ParsedPage
from spinneret.content.extraction.runs import Run, text_words

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MOST_OF_A_TABLE: Final = 0.5
_MOST_OF_A_TITLE: Final = 0.6  # titles also contain the site's name


def left_out(page: ParsedPage, chosen: Sequence[bool], *, title: str | None) -> set[etree._Element]:
    """Return the topmost elements of the body to skip. Text that is in no other element than chosen
    text can't be skipped.

    A heading between chosen runs is kept if the text below it is. A table is kept as a whole if at
    least half of its runs are chosen. Engines drop single headings and rows. An `h1` that repeats
    the `title` is skipped (None: kept).
    """
    kept = _with_tables(page.runs, _with_headings(page.runs, list(chosen)))
    if title is not None:
        _drop_title(page.runs, kept, title)
    return _unchosen(page, kept) | _pictures(page, kept)


def _with_headings(page_runs: Sequence[Run], kept: list[bool]) -> list[bool]:
    first = kept.index(True) if True in kept else len(kept)
    below = False
    for index in range(len(kept) - 1, first, -1):
        if page_runs[index].block.tag in _HEADINGS:
            kept[index] = kept[index] or below
        else:
            below = kept[index]
    return kept


def _with_tables(page_runs: Sequence[Run], kept: list[bool]) -> list[bool]:
    """Keep all of a table's runs if at least half are chosen; nested tables are separate."""
    tables: dict[etree._Element, list[int]] = {}
    known: dict[etree._Element, etree._Element | None] = {}
    for index, run in enumerate(page_runs):
        if run.block.tag in ("td", "th"):
            table = nearest(run.block, "table", known)
            if table is not None:
                tables.setdefault(table, []).append(index)
    for cells in tables.values():
        if sum(kept[index] for index in cells) >= _MOST_OF_A_TABLE * len(cells):
            for index in cells:
                kept[index] = True
    return kept


def _drop_title(page_runs: Sequence[Run], kept: list[bool], title: str) -> None:
    words = set(text_words(title))
    for index, run in enumerate(page_runs):
        if run.block.tag == "h1" and sum(word in words for word in run.words) >= (
            _MOST_OF_A_TITLE * len(run.words)
        ):
            kept[index] = False


def _unchosen(page: ParsedPage, kept: Sequence[bool]) -> set[etree._Element]:
    ways: set[etree._Element] = {page.body}
    for run, keep in zip(page.runs, kept, strict=True):
        if keep:
            _climb(run.block, ways)
    found: set[etree._Element] = set()
    covered: set[etree._Element] = set()
    for run, keep in zip(page.runs, kept, strict=True):
        top = run.block
        if keep:
            continue
        if top in ways:  # such as a link to the content, directly in the body
            found.update(run.elements)
            continue
        while top not in covered:
            covered.add(top)
            parent = top.getparent()
            if parent is None or parent in ways:
                found.add(top)
                break
            top = parent
    return found


def _climb(element: etree._Element | None, ways: set[etree._Element]) -> None:
    while element is not None and element not in ways:
        ways.add(element)
        element = element.getparent()


def _pictures(page: ParsedPage, kept: Sequence[bool]) -> set[etree._Element]:
    """Return the pictures without adjacent chosen text."""
    numbers = {element: number for number, element in enumerate(page.body.iter(etree.Element))}
    starts = [numbers[run.block] for run in page.runs]
    found: set[etree._Element] = set()
    for image in page.body.iter("img"):
        place = bisect_left(starts, numbers[image])
        if not any(kept[max(0, place - 1) : place + 1]):
            found.add(image)
    return found

"""The extraction engines behind one callable, `Engine`: region rules, rs-trafilatura, trafilatura.

Only the rules choose elements of the page. The text of the others is located in the page, so that
pages are rendered from their own elements: engines lose headings, targets and tables.

rs-trafilatura and trafilatura can't be interrupted, so the input is bounded before the call.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import rs_trafilatura
import trafilatura
from lxml import etree, html

from spinneret.content.extraction.alignment import chosen_words, moved_words
from spinneret.content.extraction.ancestry import is_inside
from spinneret.content.extraction.markup import spared
from spinneret.content.extraction.models import PageType
from spinneret.content.extraction.page import Choice, ParsedPage
from spinneret.content.extraction.regions import content_regions
from spinneret.content.extraction.runs import runs, text_words
from spinneret.content.extraction.vocabulary import BLOCKS, HEADINGS

logger = logging.getLogger(__name__)

MAX_CHILDREN: Final = 3_000
"""Children of one element, which trafilatura takes in quadratic time in figures, sections, cells
and paragraphs: 3,000 take .6 s. The widest element of 408 labelled pages has 1,500."""
MAX_GRID: Final = 100_000
"""Rows of a page, times the cells of its longest row: trafilatura fills up all rows of a table."""
MAX_FALLBACK_RUNS: Final = 4_000
"""Runs up to which trafilatura's fallbacks are used. One of them compares each short paragraph with
all others until it finds a long one: 3,000 take .4 s, 12,000 take 7 s."""

_DOCTYPE: Final = "<!DOCTYPE html>"  # without it, parsers read old pages by other rules
_LEAST_FOUND: Final = 0.5
"""An engine abstains if fewer of its words are in the page's text: they come from embedded data."""
_MOST_OF_A_RUN: Final = 0.5
_has_wide_element: Final = etree.XPath(f"boolean(//*[*[{MAX_CHILDREN + 1}]])")
_TEI_INLINE: Final = frozenset({"hi", "ref", "graphic", "span", "del"})


def regions(page: ParsedPage) -> Choice:
    """Choose everything except navigation, chrome and advertising, by the rules of `regions`."""
    found = content_regions(page.body)
    root, left_out = found.root, found.left_out
    known: dict[etree._Element, bool] = {root: False}

    def is_out(element: etree._Element) -> bool:
        return element in left_out or element.getparent() is None  # above the root

    return Choice(
        chosen=[not is_inside(run.block, is_out, known) for run in page.runs],
        # An element with blocks, such as a dialogue, is more than a part of a line: its runs count.
        left_out=frozenset(
            element for element in left_out if next(element.iter(*BLOCKS), None) is None
        ),
    )


def classifying_rs_trafilatura(page: ParsedPage) -> Choice | None:
    """Run rs-trafilatura with its own settings; return its choice and the page type it
    classified.

    It gets the parsed tree: it would repeat each element for formatting that isn't closed (`<b>`)
    in all later paragraphs, so that 800 of them took 40 s.
    """
    if not page.is_bounded:
        return None
    declared = PageType.FORUM.value if page.data.is_thread else None  # it can't detect this
    with _without_ids_of_headings(page.root):
        source = etree.tostring(page.root, encoding="unicode", method="html", doctype=_DOCTYPE)
    source = spared(source)  # XHTML is parsed with all attributes
    try:
        found = rs_trafilatura.extract(source, url=page.url, page_type=declared)
    except Exception:  # third-party heuristics may fail on any markup; the other engines remain
        logger.warning("extraction_engine_failed", exc_info=True)
        return None
    except BaseException as error:
        # A Rust panic isn't an Exception. Any other BaseException must end the process.
        if type(error).__name__ != "PanicException":
            raise
        logger.warning("extraction_engine_failed", exc_info=True)
        return None
    page_type = PageType(found.page_type) if found.page_type else None
    words = text_words(found.main_content)
    if page_type is PageType.FORUM:  # the text lacks some posts that the markup has
        words = max(words, _words_of_html(found.content_html), key=len)
    return _choice(page, words, page_type)


def trafilatura_by_type(
    page: ParsedPage, page_type: PageType | None, *, is_quick: bool = False
) -> Choice | None:
    """Run trafilatura, balanced. Comments are part of every page but of an article."""
    if not page.is_bounded or _is_wide(page.root):
        return None
    try:
        with _without_ids_of_headings(page.root), _without_spans(page.root):
            found = trafilatura.bare_extraction(
                page.root,
                fast=is_quick or len(page.runs) > MAX_FALLBACK_RUNS,
                include_comments=page_type is not PageType.ARTICLE,
                include_tables=True,
                with_metadata=False,
            )
    except Exception:  # third-party heuristics may fail on any markup; the other engines remain
        logger.warning("extraction_engine_failed", exc_info=True)
        return None
    # A dict is only returned with `as_dict`, which isn't set.
    if found is None or isinstance(found, dict):
        return None
    bodies = (body for body in (found.body, found.commentsbody) if body is not None)
    found_runs = (run for body in bodies for run in runs(body, _TEI_INLINE))
    return _choice(page, [word for run in found_runs for word in run.words])


@contextmanager
def _without_ids_of_headings(root: html.HtmlElement) -> Iterator[None]:
    """Remove ids of sections with headings while the context is open. Such an id names the
    section's topic, not its role: engines take chapters on menus or navigation for page
    furniture."""
    ids = [
        (section, section.attrib.pop("id"))
        for section in root.iter("section")
        if "id" in section.attrib and any(child.tag in HEADINGS for child in section[:2])
    ]
    try:
        yield
    finally:
        for section, name in ids:
            section.attrib["id"] = name


@contextmanager
def _without_spans(root: html.HtmlElement) -> Iterator[None]:
    """Remove the spans of cells while the context is open: trafilatura adds an empty cell for each
    column and row, a million for a page of 170 KB."""
    spans = [
        (cell, name, cell.attrib.pop(name))
        for cell in root.iter("td", "th")
        for name in ("colspan", "rowspan")
        if name in cell.attrib
    ]
    try:
        yield
    finally:
        for cell, name, value in spans:
            cell.attrib[name] = value


def _is_wide(root: html.HtmlElement) -> bool:
    """Return whether the page has an element that trafilatura takes in quadratic time."""
    rows = [len(row) for row in root.iter("tr")]
    return bool(_has_wide_element(root)) or len(rows) * max(rows, default=0) > MAX_GRID


def _words_of_html(source: str | None) -> list[str]:
    if not source or not source.strip():
        return []
    try:
        root = html.document_fromstring(source)
    except (etree.LxmlError, ValueError):
        return []
    return [word for run in runs(root) for word in run.words]


def _choice(
    page: ParsedPage, words: Sequence[str], page_type: PageType | None = None
) -> Choice | None:
    """Choose the runs of which the engine returned at least half the words. If it abstains, return
    no runs, or None without a page type."""
    marks = chosen_words(page.words, words)
    if sum(marks) < _LEAST_FOUND * len(words):
        marks = moved_words(page.words, words)
    if not words or sum(marks) < _LEAST_FOUND * len(words):
        # The classified type is valid nevertheless.
        return None if page_type is None else Choice(chosen=(), page_type=page_type)
    chosen: list[bool] = []
    start = 0
    for run in page.runs:
        end = start + len(run.words)
        chosen.append(sum(marks[start:end]) >= _MOST_OF_A_RUN * len(run.words))
        start = end
    return Choice(chosen=chosen, page_type=page_type)

"""The engines behind one callable, `Engine`: rules on regions, rs-trafilatura, trafilatura.

Only the first chooses elements. What the others return is found again in the page's own text, so
that every page is rendered from its own elements: theirs have lost headings, targets and tables.

Both are bounded before they are called, since neither can be interrupted.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import rs_trafilatura
import trafilatura
from lxml import etree, html

from spinneret.content.extraction.alignment import chosen_words
from spinneret.content.extraction.models import PageType
from spinneret.content.extraction.page import Choice, Page
from spinneret.content.extraction.regions import content_regions
from spinneret.content.extraction.runs import runs, text_words
from spinneret.content.extraction.vocabulary import BLOCKS, HEADINGS

logger = logging.getLogger(__name__)

MAX_ELEMENTS: Final = 30_000
"""Passes of trafilatura aren't all linear: this many take about 3 s, and longer pages aren't
articles."""
MAX_CHARS: Final = 1_000_000
MAX_DEPTH: Final = 200  # trafilatura recurses; rs-trafilatura is quadratic (10,000 levels: 26 s)
MAX_SOURCE_CHARS: Final = 5_000_000
MAX_TAGS: Final = 100_000
"""Of the source, where malformed markup hides what the tree doesn't show: a second of processor
time for rs-trafilatura."""

_HEADED_SECTION: Final = re.compile(
    # Nothing is given back (`++`): a long gap costs its length.
    r"<section\s[^<>]*+>(?=\s*+(?:<(?!h[1-6])\w[^<>]*+>\s*+(?:</\w++>\s*+)?)?<h[1-6]\b)",
    re.IGNORECASE,
)
_ID: Final = re.compile(r"""\sid\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)""", re.IGNORECASE)

_LEAST_FOUND: Final = 0.5
"""An engine abstains when less of its words are in the page's text: then they come from data."""
_MOST_OF_A_RUN: Final = 0.5
_TEI_INLINE: Final = frozenset({"hi", "ref", "graphic", "span", "del"})


def regions(page: Page) -> Choice:
    """All that isn't navigation, chrome or advertising, by the rules of `regions`."""
    found = content_regions(page.body)
    root, left_out = found.root, found.left_out
    inside: dict[etree._Element, bool] = {root: True}

    def is_inside(element: etree._Element | None) -> bool:
        path: list[etree._Element] = []
        while element is not None and element not in inside:
            if element in left_out:
                inside[element] = False
                break
            path.append(element)
            element = element.getparent()
        answer = element is not None and inside[element]
        inside.update(dict.fromkeys(path, answer))
        return answer

    return Choice(
        chosen=[is_inside(run.block) for run in page.runs],
        left_out=frozenset(element for element in left_out if element.tag not in BLOCKS),
    )


def classifying_rs_trafilatura(page: Page) -> Choice | None:
    """rs-trafilatura with its own settings, and the page type that its classifier finds."""
    if not is_bounded(page):
        return None
    declared = PageType.FORUM.value if page.data.is_thread else None  # it can't see that
    source = _HEADED_SECTION.sub(_without_id, page.text)
    try:
        found = rs_trafilatura.extract(source, url=page.url, page_type=declared)
    except Exception:  # heuristics of others on any markup: other engines remain
        logger.warning("extraction_engine_failed", exc_info=True)
        return None
    except BaseException as error:
        # A panic of Rust is no Exception; whatever else ends the process must.
        if type(error).__name__ != "PanicException":
            raise
        logger.warning("extraction_engine_failed", exc_info=True)
        return None
    words = _words_of_html(found.content_html)
    text = text_words(found.main_content)
    if len(words) < len(text) / 2:  # its last resort has text only
        words = text
    return _choice(page, words, PageType(found.page_type) if found.page_type else None)


def _without_id(section: re.Match[str]) -> str:
    """As `_without_ids_of_headings`, in the source."""
    return _ID.sub("", section[0])


def precise_trafilatura(page: Page) -> Choice | None:
    """trafilatura favouring precision: it prefers losing a paragraph to keeping a teaser.

    Without its fallbacks (`fast`), which are other engines again and lose nothing here.
    """
    if not is_bounded(page):
        return None
    try:
        with _without_ids_of_headings(page.root):
            found = trafilatura.bare_extraction(
                page.root,
                fast=True,
                favor_precision=True,
                include_comments=False,
                include_tables=True,
                with_metadata=False,
            )
    except Exception:  # heuristics of others on any markup: other engines remain
        logger.warning("extraction_engine_failed", exc_info=True)
        return None
    # A dict only comes with `as_dict`, which isn't asked for.
    if found is None or isinstance(found, dict) or found.body is None:
        return None
    return _choice(page, [word for run in runs(found.body, _TEI_INLINE) for word in run.words])


@contextmanager
def _without_ids_of_headings(root: html.HtmlElement) -> Iterator[None]:
    """A section's id that is made of its heading says what it is about, not what it is for: by it
    engines take chapters on menus or navigation for page furniture."""
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


def is_bounded(page: Page) -> bool:
    """Whether engines that can't be interrupted may be called."""
    if len(page.text) > MAX_SOURCE_CHARS or page.text.count("<") > MAX_TAGS:
        return False
    elements = chars = depth = 0
    for event, element in etree.iterwalk(page.root, events=("start", "end")):
        if event == "end":
            depth -= 1
            continue
        depth += 1
        elements += 1
        if element.tag not in ("script", "style"):
            chars += len(element.text or "") + len(element.tail or "")
        if elements > MAX_ELEMENTS or chars > MAX_CHARS or depth > MAX_DEPTH:
            return False
    return True


def _words_of_html(source: str | None) -> list[str]:
    if not source or not source.strip():
        return []
    try:
        root = html.document_fromstring(source)
    except (etree.LxmlError, ValueError):
        return []
    return [word for run in runs(root) for word in run.words]


def _choice(page: Page, words: Sequence[str], page_type: PageType | None = None) -> Choice | None:
    """The runs most of whose words an engine has returned."""
    marks = chosen_words(page.words, words)
    if not words or sum(marks) < _LEAST_FOUND * len(words):
        # What it says of the type holds all the same.
        return None if page_type is None else Choice(chosen=(), page_type=page_type)
    chosen: list[bool] = []
    start = 0
    for run in page.runs:
        end = start + len(run.words)
        chosen.append(sum(marks[start:end]) >= _MOST_OF_A_RUN * len(run.words))
        start = end
    return Choice(chosen=chosen, page_type=page_type)

"""Splits the text of a tree into runs: the words between two block boundaries.

Engines are compared by runs: two trees of one page rarely have the same elements, but they have the
same words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lxml import etree

from spinneret.content.extraction.vocabulary import BLOCKS, UNSEEN

_WORD: Final = re.compile(r"\w+")


def text_words(text: str) -> list[str]:
    """Return the words of plain text, normalised as in runs."""
    return _WORD.findall(text.lower())


@dataclass(frozen=True, slots=True)
class Run:
    """Words of one run, in lower case, and the block that contains them."""

    block: etree._Element
    words: tuple[str, ...]
    elements: tuple[etree._Element, ...] = ()
    """The elements that hold all words and nothing else; empty if no elements do."""


def runs(root: etree._Element, inline: frozenset[str] | None = None) -> Iterator[Run]:
    """Yield runs with at least one word, in document order.

    For vocabularies other than HTML, `inline` names the elements that don't separate runs.
    """
    reader = _Reader(root)
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = element.tag
        is_start = event == "start"
        if not isinstance(tag, str) or tag in UNSEEN:
            if is_start:
                walk.skip_subtree()
                continue
            text = element.tail
        else:
            if (tag in BLOCKS or tag == "br") if inline is None else tag not in inline:
                run = reader.part(element if is_start else None)
                if run is not None:
                    yield run
            else:
                reader.pass_inline(element, is_start=is_start)
            text = element.text if is_start else element.tail
        if text and (is_start or element is not root):
            reader.add(text)
    run = reader.part(None)
    if run is not None:
        yield run


class _Reader:
    """State of the current run."""

    def __init__(self, root: etree._Element) -> None:
        self._blocks = [root]
        self._parts: list[str] = []
        self._elements: list[etree._Element] = []
        self._outer: etree._Element | None = None
        """The open one of the elements; None outside of them."""
        self._is_beside = False
        """Whether the run has text outside of the elements."""

    def part(self, entered: etree._Element | None) -> Run | None:
        """End the current run and return it if it has words. Enter a block, or leave one."""
        run = None
        if self._parts:
            words = tuple(text_words("".join(self._parts)))
            if words:
                run = Run(self._blocks[-1], words, () if self._is_beside else (*self._elements,))
            self._parts.clear()
        self._elements.clear()
        self._outer, self._is_beside = None, False
        if entered is not None:
            self._blocks.append(entered)
        else:
            self._blocks.pop()
        return run

    def pass_inline(self, element: etree._Element, *, is_start: bool) -> None:
        """Enter or leave an element that doesn't part runs."""
        if is_start:
            if self._outer is None:
                self._outer = element
        elif element is self._outer:
            self._elements.append(element)
            self._outer = None

    def add(self, text: str) -> None:
        self._parts.append(text)
        if self._outer is None and not text.isspace():
            self._is_beside = True

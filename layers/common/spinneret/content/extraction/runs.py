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


def runs(root: etree._Element, inline: frozenset[str] | None = None) -> Iterator[Run]:
    """Yield runs with at least one word, in document order.

    For vocabularies other than HTML, `inline` names the elements that don't separate runs.
    """
    reader = _Reader(root)
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = element.tag
        if not isinstance(tag, str) or tag in UNSEEN:
            if event == "start":
                walk.skip_subtree()
                continue
        else:
            parting = (tag in BLOCKS or tag == "br") if inline is None else tag not in inline
            if parting:
                yield from reader.take()
            if event == "start":
                reader.enter(element, parting=parting)
                continue
            reader.leave(parting=parting)
        if element is not root:
            reader.add(element.tail)
    yield from reader.take()


class _Reader:
    """State of the current run."""

    def __init__(self, root: etree._Element) -> None:
        self._blocks = [root]
        self._parts: list[str] = []

    def enter(self, element: etree._Element, *, parting: bool) -> None:
        if parting:
            self._blocks.append(element)
        self.add(element.text)

    def leave(self, *, parting: bool) -> None:
        if parting:
            self._blocks.pop()

    def add(self, text: str | None) -> None:
        if text:
            self._parts.append(text)

    def take(self) -> Iterator[Run]:
        """Yield the current run if it has words, and start a new one."""
        if not self._parts:
            return
        text = "".join(self._parts)
        words = tuple(text_words(text))
        if words:
            yield Run(self._blocks[-1], words)
        self._parts.clear()

"""Splits the text of a tree into runs: the words between two block boundaries.

Engines are compared by runs: two trees of one page rarely have the same elements, but they have the
same words.
"""

import re
from collections.abc import Iterator, Sequence
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
    """The elements that hold all words and nothing else; empty if there are words beside them."""


def runs(root: etree._Element, inline: frozenset[str] | None = None) -> Iterator[Run]:
    """Yield runs with at least one word, in document order.

    For vocabularies other than HTML, `inline` names the elements that don't separate runs.
    """
    blocks: list[etree._Element] = [root]
    parts: list[str] = []
    elements: list[etree._Element] = []
    outer: etree._Element | None = None  # the open element of `elements`
    is_beside = False  # whether there is text outside of `elements`
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
                if parts and (words := _words(parts)):
                    yield Run(blocks[-1], words, () if is_beside else tuple(elements))
                parts.clear()
                elements.clear()
                outer, is_beside = None, False
                if is_start:
                    blocks.append(element)
                else:
                    blocks.pop()
            elif is_start:
                outer = outer if outer is not None else element
            elif element is outer:
                elements.append(element)
                outer = None
            text = element.text if is_start else element.tail
        if text and (is_start or element is not root):
            parts.append(text)
            is_beside = is_beside or (outer is None and not text.isspace())
    if parts and (words := _words(parts)):
        yield Run(blocks[-1], words, () if is_beside else tuple(elements))


def _words(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(text_words("".join(parts)))

"""The text of a tree as runs: what stands between two block boundaries, as words.

Runs are what engines are compared by: two trees of one page rarely have the same elements, but
they have the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lxml import etree

from spinneret.content.extraction.vocabulary import BLOCKS, UNSEEN

_WORD: Final = re.compile(r"\w+")


def text_words(text: str) -> list[str]:
    """The words of plain text, as runs have them."""
    return _WORD.findall(text.lower())


@dataclass(frozen=True, slots=True)
class Run:
    """The words of one run, in lower case, and the block that they stand in."""

    block: etree._Element
    words: tuple[str, ...]
    linked: float
    """The share of its characters that are in links."""


def runs(root: etree._Element, inline: frozenset[str] | None = None) -> Iterator[Run]:
    """Runs with at least one word, in document order.

    `inline` names what doesn't part runs in a vocabulary that isn't HTML's.
    """
    parts: list[str] = []
    linked = links = 0
    blocks = [root]

    def run() -> Iterator[Run]:
        nonlocal linked
        if parts:
            text = "".join(parts)
            words = tuple(text_words(text))
            if words:
                yield Run(blocks[-1], words, linked / len(text))
            parts.clear()
            linked = 0

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
                yield from run()
            if event == "start":
                if parting:
                    blocks.append(element)
                links += tag == "a"
                text = element.text
                if text:
                    parts.append(text)
                    linked += len(text) if links else 0
                continue
            links -= tag == "a"
            if parting:
                blocks.pop()
        tail = element.tail
        if tail and element is not root:
            parts.append(tail)
            linked += len(tail) if links else 0
    yield from run()

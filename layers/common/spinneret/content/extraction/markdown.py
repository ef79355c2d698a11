"""Elements to markdown: text and structure only, so nothing in it can become active.

Links lose their targets and raw HTML can't occur: text that would be read as a tag, a link target
or a block is escaped with backslashes. Everything else stays as the page wrote it, since the
markdown is what gets searched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from spinneret.content.extraction.inline import (
    MAX_DEPTH,
    all_text,
    code_text,
    escape,
    escape_start,
    fence_for,
    inline_text,
)
from spinneret.content.extraction.vocabulary import BLOCKS, CONTROLS, UNSEEN

_HEADINGS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_LAYOUT_ROLES: Final = ("presentation", "none")
_REPEAT_CHARS: Final = 40  # carousels and menus repeat their texts; shorter ones may be data
_LANGUAGE: Final = re.compile(r"(?:^|\s)(?:language|lang|highlight-source)-([\w+#.-]{1,20})(?!\S)")


Addresses = Callable[[str | None], str | None]


def to_markdown(
    root: etree._Element,
    left_out: Collection[etree._Element] = frozenset(),
    addresses: Addresses | None = None,
) -> str:
    """Blocks apart by blank lines, without line breaks around; a paragraph occurs once."""
    renderer = _Renderer(root, left_out, addresses)
    return "\n\n".join(renderer.blocks(root))


@dataclass
class _Run:
    """Inline content collected until the next block."""

    parts: list[str] = field(default_factory=list)

    def take(self) -> str:
        text = "".join(self.parts)
        self.parts.clear()
        lines = (" ".join(line.split()) for line in text.split("\n"))
        return "\n".join(escape_start(line) for line in lines if line)


class _Renderer:
    def __init__(
        self,
        root: etree._Element,
        left_out: Collection[etree._Element],
        addresses: Addresses | None,
    ) -> None:
        self._addresses = addresses
        self._left_out = left_out
        self._seen: set[str] = set()
        # Elements that hold a block somewhere can't be part of a line.
        self._holders: set[etree._Element] = set()
        self._composite: set[etree._Element] = set()
        for element in reversed(list(root.iter(etree.Element))):
            parent = element.getparent()
            if element is root or parent is None or self._skips(element):
                continue
            if element.tag in BLOCKS or element in self._holders:
                self._holders.add(parent)
            if element.tag in _HEADINGS or element.tag == "table" or element in self._composite:
                self._composite.add(parent)

    def blocks(self, element: etree._Element, depth: int = 0) -> Iterator[str]:
        """The blocks of an element's content."""
        run = _Run([escape(element.text)])
        for child in element:
            if self._is_block(child):
                yield from self._paragraph(run.take())
                yield from self._block(child, depth + 1)
            elif child.tag == "br":
                run.parts.append("\n")
            elif not self._skips(child):
                run.parts.append(inline_text(child, self._skips))
            run.parts.append(escape(child.tail))
        yield from self._paragraph(run.take())

    def _is_block(self, element: etree._Element) -> bool:
        return not self._skips(element) and (element.tag in BLOCKS or element in self._holders)

    def _skips(self, element: etree._Element) -> bool:
        return (
            not isinstance(element.tag, str)
            or element.tag in UNSEEN
            or element.tag in CONTROLS
            or element in self._left_out
        )

    def _paragraph(self, text: str) -> Iterator[str]:
        if not text or (len(text) >= _REPEAT_CHARS and text in self._seen):
            return
        self._seen.add(text)
        yield text

    def _block(self, element: etree._Element, depth: int) -> Iterator[str]:
        tag = element.tag
        if depth >= MAX_DEPTH:
            yield from self._paragraph(_Run([escape(all_text(element, " "))]).take())
        elif tag in _HEADINGS:
            yield from self._heading(element)
        elif tag == "pre":
            yield from _fenced(element)
        elif tag in ("ul", "ol", "menu", "dir"):
            yield from self._list(element, depth)
        elif tag == "table":
            yield from self._table(element, depth)
        elif tag == "blockquote":
            quoted = "\n\n".join(self.blocks(element, depth))
            if quoted:
                yield "\n".join(f"> {line}".rstrip() for line in quoted.split("\n"))
        else:
            yield from self.blocks(element, depth)

    def _heading(self, element: etree._Element) -> Iterator[str]:
        text = " ".join(inline_text(element, self._skips, plain=True).split())
        if text:
            yield f"{'#' * _HEADINGS[element.tag]} {text}"

    def _list(self, element: etree._Element, depth: int) -> Iterator[str]:
        if element in self._composite:  # cards, not points: their headings are the page's
            yield from self.blocks(element, depth)
            return
        items: list[str] = []
        for child in element:
            if self._skips(child):
                continue
            content = list(self.blocks(child, depth)) if child.tag == "li" else []
            if child.tag in ("ul", "ol") and items:  # sloppy nesting: belongs to the item above
                items[-1] += "\n" + _indented("\n\n".join(self._list(child, depth + 1)), "  ")
            elif child.tag != "li":
                content = list(self._block(child, depth + 1))
            if content:
                marker = f"{len(items) + 1}. " if element.tag == "ol" else "- "
                items.append(marker + _indented(_tight(content), " " * len(marker)).lstrip())
        if items:
            yield "\n".join(items)

    def _table(self, element: etree._Element, depth: int) -> Iterator[str]:
        rows = [
            [child for child in row if child.tag in ("td", "th") and not self._skips(child)]
            for row in _rows(element)
        ]
        rows = [row for row in rows if row]
        width = max(map(len, rows), default=0)
        if width < 2 or element in self._composite or element.get("role") in _LAYOUT_ROLES:
            yield from self.blocks(element, depth)
            return
        for caption in element.iterchildren("caption"):
            yield from self.blocks(caption, depth)
        lines = [[self._cell(cell) for cell in row] for row in rows]
        lines = [line for line in lines if any(line)]
        if not lines:
            return
        header = lines[0] + [""] * (width - len(lines[0]))
        table = [_row(header), f"|{' --- |' * width}", *map(_row, lines[1:])]
        yield "\n".join(table)

    def _cell(self, cell: etree._Element) -> str:
        text = inline_text(cell, self._skips)
        return " ".join(text.split()).replace("|", "\\|")


def _rows(table: etree._Element) -> Iterator[etree._Element]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from child.iterchildren("tr")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _fenced(pre: etree._Element) -> Iterator[str]:
    text = code_text(pre).strip("\n")
    if not text.strip():
        return
    fence = fence_for(text)
    classes = " ".join(element.get("class") or "" for element in (pre, *pre.iterchildren("code")))
    language = _LANGUAGE.search(classes)
    yield f"{fence}{language[1] if language else ''}\n{text}\n{fence}"


def _tight(blocks: list[str]) -> str:
    """An item's blocks; a list below a line follows it without a blank line."""
    text = blocks[0]
    for block in blocks[1:]:
        text += ("\n" if block.startswith(("- ", "1. ")) else "\n\n") + block
    return text


def _indented(text: str, indent: str) -> str:
    return "\n".join(indent + line if line else line for line in text.split("\n"))

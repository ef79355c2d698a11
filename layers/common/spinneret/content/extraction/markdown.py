"""Renders elements as Markdown with text, structure and addresses, but nothing active.

Targets of links and pictures are absolute http(s) addresses or omitted. Raw HTML can't occur: text
that would be parsed as a tag, link target or block is escaped with backslashes. All other text
stays unchanged, since the Markdown is searched.
"""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from lxml import etree

from spinneret.content.extraction import code_blocks, tables
from spinneret.content.extraction.buttons import shows_text
from spinneret.content.extraction.inline import (
    MAX_DEPTH,
    Addresses,
    Inline,
    add,
    all_text,
    escape,
    escape_start,
    fence_for,
)
from spinneret.content.extraction.targets import without_targets
from spinneret.content.extraction.vocabulary import BLOCKS, CONTROLS, HEADINGS, UNSEEN

_LAYOUT_ROLES: Final = ("presentation", "none")
_REPEAT_CHARS: Final = 40  # carousels and menus repeat texts; shorter ones may be data
# class names of Sphinx and MkDocs, Docusaurus, GitHub, AsciiDoc
_ASIDES: Final = frozenset({"admonition", "theme-admonition", "markdown-alert", "admonitionblock"})
_MAX_MARKS: Final = 16
"""Lists and quotations inside each other that are marked. Each one lengthens every line inside it:
with 90, a page of 100 KB became a text of 9 MB."""
_MARK_CHARS: Final = 8
_FOOTNOTES: Final = "*\u2020\u2021"  # and the daggers
_TAB_CHARS: Final = 100
"""Limit of a tab's label, which is repeated above each of its panels."""
_FEW: Final = 8  # a code block's frame only has a bar and a few buttons
_ITEM: Final = re.compile(r"- |\d+\. ")
_OTHER_BLOCK: Final = re.compile(rf"[|`]|{_ITEM.pattern}")
_NUMBER: Final = re.compile(r"\s*\+?(\d{1,9})(?!\d)", re.ASCII)  # Markdown has no longer ones
_LINE_START: Final = re.compile(r"(#{1,6} |)(.*)", re.DOTALL)


def to_markdown(
    root: etree._Element,
    left_out: Collection[etree._Element] = frozenset(),
    addresses: Addresses | None = None,
) -> str:
    """Return blocks separated by blank lines; repeated paragraphs are dropped."""
    renderer = _Renderer(root, left_out, addresses)
    return "\n\n".join(renderer.blocks(root))


@dataclass
class _Run:
    """Inline content collected until the next block."""

    parts: list[str] = field(default_factory=list)

    def take(self) -> str:
        text = "".join(self.parts).strip()
        self.parts.clear()
        if not text:
            return ""
        lines = (" ".join(line.split()) for line in text.split("\n"))
        return "\n".join(escape_start(line) for line in lines if line)


class _Renderer:
    def __init__(
        self,
        root: etree._Element,
        left_out: Collection[etree._Element],
        addresses: Addresses | None,
    ) -> None:
        self._inline = Inline(self._skips, addresses)
        self._left_out = left_out
        # Thousands of code blocks may share a frame, whose elements are examined once.
        framed = dict.fromkeys(element for pre in root.iter("pre") for element in _beside(pre))
        self._frames = code_blocks.Frames()
        self._labels = set(filter(self._frames.is_label, framed))
        self._grids = tables.Grids()
        self._tabs = {
            tab.get("id"): code_blocks.few_words(tab, _TAB_CHARS)
            for tab in root.iterfind(".//*[@role='tab'][@id]")
        }
        self._seen: set[str] = set()
        self._marks = 0
        """Number of lists and quotations around the current element."""
        # Elements that contain a block can't be part of a line.
        self._holders: set[etree._Element] = set()
        self._composite: set[etree._Element] = set()
        for element in reversed(list(root.iter(etree.Element))):
            parent = element.getparent()
            if element is root or parent is None or self._skips(element):
                continue
            if element.tag in BLOCKS or element in self._holders:
                self._holders.add(parent)
            if element.tag in HEADINGS or element.tag == "table" or element in self._composite:
                self._composite.add(parent)

    def blocks(self, element: etree._Element, depth: int = 0) -> Iterator[str]:
        """Yield the blocks of an element's content."""
        run = _Run([escape(element.text)])
        for child in element:
            if self._is_block(child):
                yield from self._paragraph(run.take())
                yield from self._block(child, depth + 1)
            elif child.tag == "br":
                run.parts.append("\n")
            elif not self._skips(child):
                add(run.parts, child, self._inline.text(child))
            run.parts.append(escape(child.tail))
        yield from self._paragraph(run.take())

    def _is_block(self, element: etree._Element) -> bool:
        return not self._skips(element) and (element.tag in BLOCKS or element in self._holders)

    def _skips(self, element: etree._Element) -> bool:
        return (
            not isinstance(element.tag, str)
            or element.tag in UNSEEN
            or element in self._left_out
            or (element.tag in CONTROLS and not (element.tag == "button" and shows_text(element)))
            or element in self._labels
            or element.get("class") == "katex-html"  # repeats the formula as a drawing
            or (element.tag == "a" and _is_mark(element))
        )

    def _paragraph(self, text: str) -> Iterator[str]:
        if len(text) >= _REPEAT_CHARS:
            bare = without_targets(text)
            if len(bare) >= _REPEAT_CHARS:
                if bare in self._seen:
                    return
                self._seen.add(bare)
        if text:
            yield text

    def _block(self, element: etree._Element, depth: int) -> Iterator[str]:
        tag = element.tag
        if depth >= MAX_DEPTH:
            yield from self._paragraph(_Run([escape(all_text(element, " "))]).take())
        elif tag in HEADINGS:
            yield from self._heading(element)
        elif tag == "pre":
            yield from self._fenced(element)
        elif tag == "a":
            yield from self._card(element, depth)
        elif tag in ("ul", "ol", "menu", "dir"):
            yield from self._marked(self._list, element, depth)
        elif tag == "table":
            yield from self._table(element, depth)
        elif tag == "blockquote" or (_is_aside(element) and element not in self._composite):
            yield from self._marked(self._quote, element, depth)
        else:
            yield from self._tab_label(element)
            yield from self.blocks(element, depth)

    def _marked(
        self,
        render: Callable[[etree._Element, int], Iterator[str]],
        element: etree._Element,
        depth: int,
    ) -> Iterator[str]:
        """Render a list or quotation, or only its content if it is inside of too many."""
        if self._marks == _MAX_MARKS:
            yield from self.blocks(element, depth)
            return
        self._marks += 1
        yield from render(element, depth)
        self._marks -= 1

    def _quote(self, element: etree._Element, depth: int) -> Iterator[str]:
        quoted = "\n\n".join(self.blocks(element, depth))
        if quoted:
            yield "\n".join(f"> {line}".rstrip() for line in quoted.split("\n"))

    def _tab_label(self, panel: etree._Element) -> Iterator[str]:
        """Yield the label of a tab panel with code, since all variants of an example are
        rendered."""
        if panel.get("role") == "tabpanel" and next(panel.iter("pre"), None) is not None:
            label = self._tabs.get(panel.get("aria-labelledby") or "")
            if label:
                yield f"**{escape(label)}**"

    def _heading(self, element: etree._Element) -> Iterator[str]:
        text = " ".join(self._inline.text(element, plain=True).split())
        if text:
            yield f"{'#' * HEADINGS[element.tag]} {text}"

    def _card(self, anchor: etree._Element, depth: int) -> Iterator[str]:
        """Render blocks inside a link; the first line of text becomes the link."""
        linked = False
        for block in self.blocks(anchor, depth):
            mark, text = _LINE_START.match(block).groups()  # type: ignore[union-attr]  # any text
            if not linked and "](" not in block and not _OTHER_BLOCK.match(block):
                linked = True
                yield mark + self._inline.linked(anchor, text)
            else:
                yield block

    def _list(self, element: etree._Element, depth: int) -> Iterator[str]:
        if element in self._composite:  # cards, not items: their headings belong to the page
            yield from self.blocks(element, depth)
            return
        yield from self._paragraph(_line(element.text))
        items: list[list[str]] = []
        number = _number(element.get("start"), 1) if element.tag == "ol" else None
        for child in element:
            if not self._skips(child):
                if number is not None and child.tag == "li":
                    number = _number(child.get("value"), number)
                before = len(items)
                self._add_to(items, child, depth, number)
                number = number + len(items) - before if number is not None else None
            beside = _line(child.tail)
            if beside and items:  # text between items belongs to the item above it
                items[-1].append(_indented(beside, "  "))
            else:
                yield from self._paragraph(beside)
        if items:
            yield "\n".join(line for item in items for line in item)

    def _add_to(
        self, items: list[list[str]], child: etree._Element, depth: int, number: int | None
    ) -> None:
        """Add a child of a list to the lines of its items. `number` is that of a new item."""
        content = list(self.blocks(child, depth)) if child.tag == "li" else []
        if child.tag in ("ul", "ol") and items:  # invalid nesting: belongs to the previous item
            nested = "\n\n".join(self._marked(self._list, child, depth + 1))
            items[-1].append(_indented(nested, "  "))
        elif child.tag != "li":
            content = list(self._block(child, depth + 1))
        if content:
            marker = "- " if number is None else f"{number}. "
            items.append([marker + _indented(_tight(content), " " * len(marker)).lstrip()])

    def _table(self, element: etree._Element, depth: int) -> Iterator[str]:
        if self._frames.is_code_table(element):
            yield from self._fenced(*self._frames.code_of(element))
            return
        lines: list[list[str]] = []
        if element not in self._composite and element.get("role") not in _LAYOUT_ROLES:
            lines = self._grids.lines(element, self._cell, self._skips)
        width = max(map(len, lines), default=0)
        if width < 2:
            yield from self.blocks(element, depth)
            return
        for caption in element.iterchildren("caption"):
            yield from self.blocks(caption, depth)
        for part in tables.beside_cells(element):  # before the table, as in browsers
            if isinstance(part, str):
                yield from self._paragraph(_line(part))
            elif not self._skips(part):
                yield from self._block(part, depth + 1)
        lines = [line for line in lines if any(line)]
        if not lines:
            return
        header = lines[0] + [""] * (width - len(lines[0]))
        table = [_row(header), f"|{' --- |' * width}", *map(_row, lines[1:])]
        yield "\n".join(table)

    def _cell(self, cell: etree._Element) -> str:
        text = self._inline.text(cell)
        return " ".join(text.split()).replace("|", "\\|")

    def _fenced(self, *blocks: etree._Element) -> Iterator[str]:
        """Yield code as one block; some pages have one element for each line."""
        text = "\n".join(code_blocks.text(pre).strip("\n") for pre in blocks).strip("\n")
        if not text.strip():
            return
        fence = fence_for(text)
        yield f"{fence}{self._frames.language(blocks[0])}\n{text}\n{fence}"


def _number(value: str | None, default: int) -> int:
    """Return the number of a list's first item, or of an item, as HTML reads it."""
    match = _NUMBER.match(value or "")
    return default if match is None else int(match[1])


def _line(text: str | None) -> str:
    """Return a text of its own, outside of any line; empty without a letter or digit."""
    return _Run([escape(text)]).take() if text and any(map(str.isalnum, text)) else ""


def _is_mark(link: etree._Element) -> bool:
    """Return whether a link is a mark for a place of the page, such as the ¶ of a heading, but
    not of a footnote."""
    if not (link.get("href") or "").startswith("#"):
        return False
    text = code_blocks.few_words(link, _MARK_CHARS).strip(_FOOTNOTES)
    return bool(text) and not any(map(str.isalnum, text))


def _is_aside(element: etree._Element) -> bool:
    """Return whether an element is a note, tip or warning of a documentation generator."""
    return not _ASIDES.isdisjoint((element.get("class") or "").split())


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _beside(pre: etree._Element) -> Iterator[etree._Element]:
    """Yield elements that may share a frame with a code block, up to two levels above it."""
    parent = pre.getparent()
    if parent is not None:
        yield from islice(parent.iterchildren(etree.Element), _FEW)
        above = parent.getparent()
        if above is not None:
            yield from islice(above.iterchildren(etree.Element), _FEW)


def _tight(blocks: list[str]) -> str:
    """Join an item's blocks; a nested list follows without a blank line."""
    text = blocks[0]
    for block in blocks[1:]:
        text += ("\n" if _ITEM.match(block) else "\n\n") + block
    return text


def _indented(text: str, indent: str) -> str:
    return "\n".join(indent + line if line else line for line in text.split("\n"))

"""Preformatted text without decoration such as line numbers, copy buttons and labels."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from lxml import etree

from spinneret.content.extraction.ancestry import is_inside
from spinneret.content.extraction.vocabulary import CONTROLS, UNSEEN

_LANGUAGE: Final = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush)[-:]\s?([\w+#.-]{1,20})(?!\S)"
)
_NOT_LANGUAGES: Final = frozenset({"wrapper", "default", "block", "code", "highlight", "none"})
_NUMBERS: Final = re.compile(
    r"(?:^|[\s_-])(?:gutter|linenos?|line-?numbers?|lineno|blob-num|hljs-ln-numbers)(?:$|[\s_-])",
    re.IGNORECASE,
)
_AROUND: Final = 3  # number of ancestors that may frame a code block
_LINES: Final = frozenset({"div", "li", "p", "tr"})
"""Elements of code that are lines."""
_LABELS: Final = frozenset({"copy", "copied", "copy code", "copied!", "copy to clipboard"})
_LABEL_CHARS: Final = 24
_LABEL_ELEMENTS: Final = 50
"""Elements of a label, such as its picture. Elements inside each other share more of them."""


class Frames:
    """Frames and tables around the code blocks of one page. Thousands of blocks may share a frame,
    which is read once."""

    def __init__(self) -> None:
        self._languages: dict[etree._Element, str] = {}
        self._furniture: dict[etree._Element, bool] = {}
        self._inside: dict[etree._Element, bool] = {}

    def language(self, pre: etree._Element) -> str:
        """Return the language named by the block, its `code` or its frame; empty if none."""
        around = islice(pre.iterancestors(), _AROUND)
        named = (
            self._language_named_by(element)
            for element in (pre, *pre.iterchildren("code"), *around)
        )
        return next(filter(None, named), "")

    def is_code_table(self, table: etree._Element) -> bool:
        """Return whether a table frames code: one with line number cells and a `pre`."""
        return next(table.iter("pre"), None) is not None and any(
            map(self._is_numbers, table.iter("td"))
        )

    def code_of(self, table: etree._Element) -> Iterator[etree._Element]:
        """Yield the blocks of such a table that aren't line numbers."""
        for pre in table.iter("pre"):
            if not is_inside(pre, self._is_numbers, self._inside):
                yield pre

    def is_label(self, element: etree._Element) -> bool:
        """Return whether the element is a "Copy" or language label in the frame of a code
        block."""
        words = few_words(element, _LABEL_CHARS).lower()
        if not words:
            return False
        parent = element.getparent()
        if parent is None or next(element.iter("pre"), None) is not None:
            return False
        blocks = [*parent.iterchildren("pre"), *parent.iterfind("*/pre")]
        if len(blocks) != 1:
            return False
        return words in _LABELS or words == self.language(blocks[0]).lower()

    def _language_named_by(self, element: etree._Element) -> str:
        if element not in self._languages:
            self._languages[element] = _language_named_by(element)
        return self._languages[element]

    def _is_numbers(self, cell: etree._Element) -> bool:
        """Return whether an element is a cell of line numbers."""
        if cell.tag != "td":
            return False
        if cell not in self._furniture:
            self._furniture[cell] = _is_furniture(cell)
        return self._furniture[cell]


def text(pre: etree._Element) -> str:
    """Return the code verbatim, with line breaks as newlines and without line numbers and
    buttons."""
    parts: list[str] = []
    is_break_due = False  # a line may be a block, with or without a line break of its own
    walk = etree.iterwalk(pre, events=("start", "end"))
    for event, node in walk:
        if event == "end":
            part = node.tail if node is not pre else None
        elif node is not pre and _is_furniture(node):
            walk.skip_subtree()
            continue
        else:
            part = "\n" if node.tag == "br" else node.text
        if node is not pre and node.tag in _LINES:
            is_break_due = bool(parts) and not parts[-1].endswith("\n")
        if part:
            if is_break_due and not part.startswith("\n"):
                parts.append("\n")
            is_break_due = False
            parts.append(part)
    return "".join(parts)


def few_words(element: etree._Element, most: int) -> str:
    """Return the text of an element on one line; empty if it has more than `most` characters or 50
    elements. The rest isn't read: elements inside each other share it."""
    words: list[str] = []
    elements = 0
    for event, each in etree.iterwalk(element, events=("start", "end")):
        if event == "start":
            elements += 1
            part = each.text
        else:
            part = each.tail if each is not element else None
        words += (part or "").split(maxsplit=most)
        if elements > _LABEL_ELEMENTS or sum(map(len, words)) + len(words) > most + 1:
            return ""
    return " ".join(words)


def _language_named_by(element: etree._Element) -> str:
    declared = element.get("data-lang") or element.get("data-language")
    if declared and re.fullmatch(r"[\w+#.-]{1,20}", declared):
        return declared
    named = (match[1] for match in _LANGUAGE.finditer(element.get("class") or ""))
    return next((name for name in named if name not in _NOT_LANGUAGES), "")


def _is_furniture(element: etree._Element) -> bool:
    return (
        not isinstance(element.tag, str)
        or element.tag in CONTROLS
        or element.tag in UNSEEN
        or element.get("data-line-number") is not None
        or _NUMBERS.search(element.get("class") or "") is not None
    )

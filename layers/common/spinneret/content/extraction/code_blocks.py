"""Preformatted text without decoration such as line numbers, copy buttons and labels."""

import re
from collections.abc import Iterator
from typing import Final

from lxml import etree

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
_LABELS: Final = frozenset({"copy", "copied", "copy code", "copied!", "copy to clipboard"})
_LABEL_CHARS: Final = 24


def language(pre: etree._Element) -> str:
    """Return the language named by the block, its `code` or its frame; empty if none."""
    named = [pre, *pre.iterchildren("code")]
    for _, ancestor in zip(range(_AROUND), pre.iterancestors(), strict=False):
        named.append(ancestor)
    for element in named:
        declared = element.get("data-lang") or element.get("data-language")
        if declared and re.fullmatch(r"[\w+#.-]{1,20}", declared):
            return declared
        for match in _LANGUAGE.finditer(element.get("class") or ""):
            if match[1] not in _NOT_LANGUAGES:
                return match[1]
    return ""


def text(pre: etree._Element) -> str:
    """Return the code verbatim, with line breaks as newlines and without line numbers and
    buttons."""
    parts: list[str] = []
    walk = etree.iterwalk(pre, events=("start", "end"))
    for event, node in walk:
        if event == "end":
            if node is not pre:
                parts.append(node.tail or "")
        elif node is not pre and _is_furniture(node):
            walk.skip_subtree()
        else:
            parts.append("\n" if node.tag == "br" else node.text or "")
    return "".join(parts)


def is_code_table(table: etree._Element) -> bool:
    """Return whether a table frames code: one with line number cells and a `pre`."""
    return next(table.iter("pre"), None) is not None and any(
        _is_furniture(cell) for cell in table.iter("td")
    )


def code_of(table: etree._Element) -> Iterator[etree._Element]:
    """Yield the blocks of such a table that aren't line numbers."""
    for pre in table.iter("pre"):
        if not any(_is_furniture(cell) for cell in pre.iterancestors("td")):
            yield pre


def is_label(element: etree._Element) -> bool:
    """Return whether the element is a "Copy" or language label in the frame of a code block."""
    words = _few_words(element)
    if not words:
        return False
    parent = element.getparent()
    if parent is None or next(element.iter("pre"), None) is not None:
        return False
    blocks = [*parent.iterchildren("pre"), *parent.iterfind("*/pre")]
    if len(blocks) != 1:
        return False
    return words in _LABELS or words == language(blocks[0]).lower()


def _few_words(element: etree._Element) -> str:
    """Return the text of an element on one line, in lower case; empty if it is too long for a
    label. The rest of a long text isn't read: elements inside each other share it."""
    words: list[str] = []
    for part in element.itertext():
        words += str(part).split(maxsplit=_LABEL_CHARS)
        if sum(map(len, words)) + len(words) > _LABEL_CHARS + 1:
            return ""
    return " ".join(words).lower()


def _is_furniture(element: etree._Element) -> bool:
    return (
        not isinstance(element.tag, str)
        or element.tag in CONTROLS
        or element.tag in UNSEEN
        or element.get("data-line-number") is not None
        or _NUMBERS.search(element.get("class") or "") is not None
    )

"""Text inside a line of markdown: emphasis, code spans and escapes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from lxml import etree

from spinneret.content.extraction.vocabulary import BLOCKS

MAX_DEPTH: Final = 100
"""Deeper elements give their text only, which keeps clear of Python's limit of 1000 calls."""

_MARKERS: Final = {
    "b": "**", "strong": "**", "i": "*", "em": "*", "del": "~~", "s": "~~", "strike": "~~",
}  # fmt: skip
_CODE: Final = frozenset({"code", "kbd", "samp", "tt"})
_BLANKS: Final = re.compile(r"\s+")
_INVISIBLE: Final = str.maketrans("", "", "\u00ad\u200b\u2060\ufeff\ufffe\uffff")

# What would be a tag or the text of a link, in one text or together with the next one. Backslashes
# before it are doubled, or they would take the escape away.
_ACTIVE: Final = re.compile(
    r"(?P<before>(?<!\\)\\++)?(?P<special><(?![\s\d=<-])|\](?=[(:\[]|$))|(?<!\\)\\++$"
)
_ACTIVE_IN_MARKDOWN: Final = re.compile(
    r"(?P<before>(?<!\\)\\++)?(?P<special><(?=[a-z/!?])"
    r"|\](?=(?:\(|:)[\s<]*(?:javascript|vbscript|data)\s*:))",
    re.IGNORECASE,
)
_BLOCK_START: Final = re.compile(
    r"#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|`{3,}|~{3,}|\||(?P<number>\d{1,9})[.)](?=\s|$)"
    r"|[-*_=](?=[-*_= ]*$)"
)
_BACKTICKS: Final = re.compile(r"`+")


def escape(text: str | None) -> str:
    """Text of one node, so that it stays text wherever it is put; its line breaks mean nothing."""
    if not text:
        return ""
    return _ACTIVE.sub(_escaped, _BLANKS.sub(" ", text.translate(_INVISIBLE)))


def neutralise(markdown: str) -> str:
    """Somebody's own markdown or plain text without tags and without links that run scripts."""
    return _ACTIVE_IN_MARKDOWN.sub(_escaped, markdown)


def escape_start(line: str) -> str:
    """A line of a paragraph, so that it doesn't start another kind of block."""
    match = _BLOCK_START.match(line)
    if match is None:
        return line
    number = match["number"] or ""
    return f"{number}\\{line[len(number) :]}"


def inline_text(
    element: etree._Element,
    skips: Callable[[etree._Element], bool],
    *,
    plain: bool = False,
    active: frozenset[str] = frozenset(),
    depth: int = 0,
) -> str:
    """An element's content as part of a line; breaks and blocks inside leave a newline.

    `plain` leaves out emphasis and code marks; `active` are the marks already around it.
    """
    if depth >= MAX_DEPTH:
        return escape(all_text(element, " "))
    if element.tag in _CODE and not plain:
        return _code_span(" ".join(all_text(element).split()))
    marker = "" if plain else _MARKERS.get(element.tag, "")
    if marker in active:
        marker = ""
    parts = [escape(element.text)]
    for child in element:
        if child.tag == "br":
            parts.append("\n")
        elif not skips(child):
            text = inline_text(child, skips, plain=plain, active=active | {marker}, depth=depth + 1)
            parts.append(f"\n{text}\n" if child.tag in BLOCKS else text)
        parts.append(escape(child.tail))
    text = "".join(parts)
    return _emphasised(text, marker) if marker else text


def all_text(element: etree._Element, separator: str = "") -> str:
    """The text of an element and all below it."""
    return separator.join(map(str, element.itertext()))


def code_text(element: etree._Element) -> str:
    """Preformatted text as it stands, with breaks as newlines."""
    parts: list[str] = []
    for event, node in etree.iterwalk(element, events=("start", "end")):
        if event == "start":
            parts.append("\n" if node.tag == "br" else node.text or "")
        elif node is not element:
            parts.append(node.tail or "")
    return "".join(parts)


def fence_for(text: str) -> str:
    """The shortest fence that the text doesn't contain."""
    return "`" * max(3, 1 + _longest_backticks(text))


def _escaped(match: re.Match[str]) -> str:
    if match["special"]:
        return f"{(match['before'] or '') * 2}\\{match['special']}"
    return match[0] * 2  # backslashes at the end, before whatever comes next


def _code_span(text: str) -> str:
    if not text:
        return ""
    fence = "`" * (1 + _longest_backticks(text))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _longest_backticks(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def _emphasised(text: str, marker: str) -> str:
    """Marks stand at the words, with the blanks around them outside, as CommonMark needs."""
    words = text.strip()
    if "\n" in words or not any(map(str.isalnum, words)):
        return text
    start = text.index(words)
    return f"{text[:start]}{marker}{words}{marker}{text[start + len(words) :]}"

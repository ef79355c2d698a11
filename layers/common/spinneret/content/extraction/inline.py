"""Text inside a line of Markdown: emphasis, code spans and escapes."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from lxml import etree

from spinneret.content.extraction.formulas import formula_text
from spinneret.content.extraction.vocabulary import BLOCKS

Addresses = Callable[[str | None], str | None]
"""Function from an `href` or `src` value to an absolute address, or None if it isn't one."""

MAX_DEPTH: Final = 100
"""Deeper elements are reduced to their text, to stay below Python's recursion limit of 1000
calls."""

_MARKERS: Final = {
    "b": "**", "strong": "**", "i": "*", "em": "*", "del": "~~", "s": "~~", "strike": "~~",
}  # fmt: skip
_CODE: Final = frozenset({"code", "kbd", "samp", "tt"})
_CLOSED: Final = _CODE | {"img", "math", "ruby"}
_PARTED: Final = frozenset({"span", "a", "label"})
"""Elements that styles often show as lines or columns."""
_READINGS: Final = frozenset({"rt", "rtc", "rp"})
_MAX_ALT_CHARS: Final = 500
_BRACKET: Final = re.compile(r"(?<!\\)[\[\]]")
_ORDINAL: Final = re.compile(r"[^\W\d_]{2,}")
_BLANKS: Final = re.compile(r"\s+")
_INVISIBLE: Final = str.maketrans(  # soft hyphens, joints and marks of direction; no ASCII
    "",
    "",
    "\u00ad\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069"
    "\ufeff\ufffe\uffff",
)

# Characters that could form a tag or a link's text, within one text or with the next one. Preceding
# backslashes are doubled, or they would cancel the escape.
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
    """Escape a node's text so that it stays text in any position; collapse its line breaks."""
    if not text:
        return ""
    if not text.isascii():
        text = text.translate(_INVISIBLE)
    return _ACTIVE.sub(_escaped, _BLANKS.sub(" ", text))


def neutralise(markdown: str) -> str:
    """Return a page's own Markdown or plain text without tags and script links."""
    return _ACTIVE_IN_MARKDOWN.sub(_escaped, markdown)


def escape_start(line: str) -> str:
    """Escape the start of a paragraph line that would otherwise start another kind of block."""
    match = _BLOCK_START.match(line)
    if match is None:
        return line
    number = match["number"] or ""
    return f"{number}\\{line[len(number) :]}"


@dataclass(frozen=True)
class Inline:
    """Renders elements as parts of a line."""

    skips: Callable[[etree._Element], bool]
    addresses: Addresses | None
    """Resolves the addresses of links; None omits all targets and pictures."""

    def text(
        self,
        element: etree._Element,
        *,
        plain: bool = False,
        active: frozenset[str] = frozenset(),
        depth: int = 0,
    ) -> str:
        """Return an element's content; breaks and inner blocks become newlines.

        `plain` omits emphasis, code marks and targets; `active` are the marks around the element.
        """
        if depth >= MAX_DEPTH:
            return escape(all_text(element, " "))
        tag = element.tag
        if tag in _CLOSED and (tag not in _CODE or not plain):
            return self._closed(element, plain=plain)
        marker = "" if plain else _MARKERS.get(tag, "")
        if marker in active:
            marker = ""
        around = active | {marker} | ({tag} if tag in ("a", "sup") else set())
        parts = [escape(element.text)]
        for child in element:
            if child.tag == "br":
                parts.append("\n")
            elif not self.skips(child):
                text = self.text(child, plain=plain, active=around, depth=depth + 1)
                add(parts, child, f"\n{text}\n" if child.tag in BLOCKS else text)
            parts.append(escape(child.tail))
        text = "".join(parts)
        if tag == "sup" and "sup" not in active:
            return _raised(text)
        if tag == "q":  # browsers add the marks
            return f'"{text}"' if text.strip() else text
        if tag == "a" and not plain and "a" not in active:
            return self.linked(element, text)
        return _emphasised(text, marker) if marker else text

    def _closed(self, element: etree._Element, *, plain: bool) -> str:
        """Render an element that is more than the sum of its parts: formula, picture or code."""
        if element.tag == "math":
            return _formula(element)
        if element.tag == "ruby":
            return escape(_with_reading(element))
        if element.tag == "img":
            return "" if plain else self._picture(element)
        return _code_span(" ".join(all_text(element).split()))

    def linked(self, anchor: etree._Element, text: str) -> str:
        """Return the text with its first line as a link; unchanged without a target."""
        address = self.addresses and self.addresses(anchor.get("href"))
        if not address:
            return text
        lines = text.split("\n")
        for number, line in enumerate(lines):
            words = line.strip()
            if words:
                start = line.index(words)
                lines[number] = f"{line[:start]}[{words}]({address}){line[start + len(words) :]}"
                break
        return "\n".join(lines)

    def _picture(self, image: etree._Element) -> str:
        description = " ".join((image.get("alt") or "").split())
        if self.addresses is None or not description or len(description) > _MAX_ALT_CHARS:
            return ""
        sources = (image.get(name) for name in ("src", "data-src", "data-lazy-src"))
        address = next(filter(None, map(self.addresses, sources)), "")
        label = _BRACKET.sub(r"\\\g<0>", escape(description))
        return f"![{label}]({address})"


def add(parts: list[str], element: etree._Element, text: str) -> None:
    """Append an element's text to the parts of its line. A blank comes first if only the page's
    style separates the element from the previous one, such as a title from a name on a card."""
    previous = element.getprevious() if element.tag in _PARTED else None
    if previous is not None and previous.tag in _PARTED and not previous.tail:
        before = parts[-2] if len(parts) > 1 else ""  # the last one is an empty tail
        is_title = before[-1:].islower() and text[:1].isupper()
        if is_title or (before.endswith(")") and text.startswith("[")):  # two links
            parts.append(" ")
    parts.append(text)


def all_text(element: etree._Element, separator: str = "") -> str:
    """Return the text of an element and its descendants."""
    return separator.join(map(str, element.itertext()))


def fence_for(text: str) -> str:
    """Return the shortest fence that the text doesn't contain."""
    return "`" * max(3, 1 + _longest_backticks(text))


def _escaped(match: re.Match[str]) -> str:
    if match["special"]:
        return f"{(match['before'] or '') * 2}\\{match['special']}"
    return match[0] * 2  # trailing backslashes would escape the next character


def _code_span(text: str) -> str:
    if not text:
        return ""
    fence = "`" * (1 + _longest_backticks(text))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _longest_backticks(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def _emphasised(text: str, marker: str) -> str:
    """Put marks next to the words and blanks outside them, as CommonMark requires."""
    words = text.strip()
    if "\n" in words or not any(map(str.isalnum, words)):
        return text
    start = text.index(words)
    return f"{text[:start]}{marker}{words}{marker}{text[start + len(words) :]}"


def _raised(text: str) -> str:
    """Render a power or note number; join ordinals ("1st") and marks such as TM to their word."""
    words = text.strip()
    if not words or not any(map(str.isalnum, words)) or _ORDINAL.fullmatch(words):
        return text
    return f"^({words})" if " " in words else f"^{words}"


def _with_reading(ruby: etree._Element) -> str:
    """Return the characters, then their reading in brackets, so that words stay together."""
    base, reading = [ruby.text or ""], []
    for part in ruby:
        if part.tag not in _READINGS:
            base.append(all_text(part))
        elif part.tag != "rp":
            reading.append(all_text(part))
        base.append(part.tail or "")
    words, read = " ".join("".join(base).split()), " ".join("".join(reading).split())
    return f"{words}({read})" if read else words


def _formula(math: etree._Element) -> str:
    """Return the TeX that most MathML generators add, else the element's text."""
    source = math.get("alttext") or ""
    for note in math.iter("annotation"):
        if "tex" in (note.get("encoding") or "").lower():
            source = source or all_text(note)
    source = " ".join(source.split())
    return f"${escape(source)}$" if source else escape(formula_text(math))

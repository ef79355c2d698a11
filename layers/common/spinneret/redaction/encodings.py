"""Texts as they read once their escapes are undone, with the way back to the source's places.

Percent-encoding (RFC 3986, section 2.1), character references of HTML, escapes of
JSON and Python, full-width forms (U+FF01 to U+FF5E), characters without width, and the colours of
terminals (ECMA-48, section 5.4). Whole texts in base64 (RFC 4648) or hexadecimal.
"""

from __future__ import annotations

import base64
import re
from binascii import Error as NotBase64
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from spinneret.redaction.spans import Span

COLOUR: Final = "\x1b"
"""Stands for a colour while a text is read: it parts words, and is nothing in the decoded text."""

_CONTROL: Final = r"(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|[()][0-9A-Z])"  # behind ESC: CSI, charset
_COLOURED: Final = re.compile(rf"\x1b++{_CONTROL}?|\x9b[0-9;]{{0,64}}m")
_ESCAPED: Final = re.compile(rf"""(?x)[%&\\\x1b\u00ad\u200b-\u200f\u2060\ufeff](?:
        (?<=%)(?:(?P<percent>[2-7][0-9A-Fa-f]|0[9AaDd])
           |1[Bb](?:%5[Bb]|\[)(?P<percent_colour>[0-?]{{0,64}}m))
      | (?<=&)(?:(?P<entity>quot|apos|amp|lt|gt|equals|colon)|\#(?P<number>\d{{2,3}})
           |\#[xX](?P<hexadecimal>[0-9a-fA-F]{{2}}));
      | (?<=\\)\\{{0,30}}+(?:(?:u001[bB]|x1[bB]|033|e)(?P<colour>{_CONTROL})
           |(?P<control>[nrt]) | (?:u00|x)(?P<unicode>[2-7aA][0-9a-fA-F])
           |u(?P<letter>(?!00[0-9aA]|[dD][89a-fA-F])[0-9a-fA-F]{{4}}))
      | (?P<nothing>(?<![%&\\])[\x1b\u00ad\u200b-\u200f\u2060\ufeff]*+))
""")
_ENTITIES: Final = dict(
    zip(("quot", "apos", "amp", "lt", "gt", "equals", "colon"), "\"'&<>=:", strict=True)
)
_NARROWED: Final = {0xFF01 + place: 0x21 + place for place in range(0x5E)}
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t"}
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_\-](?<![A-Za-z0-9+/_\-]{2})[A-Za-z0-9+/_\-]{19,}+={0,2}")
_HEX: Final = re.compile(
    r"[2-7](?<![A-Za-z0-9].)[0-9a-fA-F](?:[2-7][0-9a-fA-F]){11,}+(?![A-Za-z0-9])"
)


def uncoloured(text: str, instead: str = "") -> str:
    """The text with something else instead of the control sequences of terminals."""
    return _COLOURED.sub(instead, text) if "\x1b" in text or "\x9b" in text else text


class Decoded:
    """A text without escapes, which knows where its parts come from."""

    def __init__(self, source: str) -> None:
        pieces: list[str] = []
        self._places: list[int] = []  # where a piece begins in the decoded text …
        self._origins: list[tuple[int, int]] = []  # … and where it begins and ends in the source
        length = done = 0
        for escape in _ESCAPED.finditer(source):
            start, end = escape.span()
            pieces += (source[done:start], _meant(escape))
            self._origins += ((done, start), (start, end))
            self._places += (length, length + start - done)
            length += start - done + len(pieces[-1])
            done = end
        self.text = "".join((*pieces, source[done:]))
        self._origins.append((done, len(source)))
        self._places += (length, len(self.text))

    def origin(self, span: Span) -> Span:
        """The same span in the source."""
        first, last = (
            bisect_right(self._places, place, hi=len(self._origins)) - 1
            for place in (span.start, span.end - 1)
        )
        start = self._origins[first][0] + span.start - self._places[first]
        begin, end = self._origins[last]
        if span.end < self._places[last + 1]:  # else the whole piece belongs to the span
            end = begin + span.end - self._places[last]
        return Span(start, end, span.replacement)


def decoded(text: str) -> Decoded | None:
    """The text without escapes; None if it has none."""
    if text.isascii() and not any(sign in text for sign in "%&\\\x1b"):
        return None
    narrow = text.translate(_NARROWED)
    return Decoded(narrow) if narrow != text or _ESCAPED.search(text) else None


def hidden_texts(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and meaning of what may be a text in base64 or hexadecimal."""
    for match in _HEX.finditer(text):
        if len(match[0]) % 2 == 0:
            yield (*match.span(), bytes.fromhex(match[0]).decode("ascii"))
    for match in _BASE64.finditer(text):
        run = match[0].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            meaning = base64.b64decode(run + "=" * (-len(run) % 4), validate=True).decode("utf-8")
        except (NotBase64, ValueError):
            continue
        if meaning.replace("\n", "").replace("\r", "").isprintable():
            yield (*match.span(), meaning)


def _meant(escape: re.Match[str]) -> str:
    match escape.lastgroup:
        case "entity":
            return _ENTITIES[escape["entity"]]
        case "number":
            return chr(int(escape["number"]))
        case "colour" | "percent_colour":
            return COLOUR
        case "control":
            return _CONTROLS[escape["control"]]
        case "nothing":
            return ""
        case group:
            return chr(int(escape[str(group)], 16))

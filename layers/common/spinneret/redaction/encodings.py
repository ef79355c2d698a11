"""Texts as they read once their escapes are undone, with the way back to the original's places.

Percent-encoding (RFC 3986, section 2.1, at any depth), character references of HTML, `\\u0026` of
JSON, full-width forms (U+FF01 to U+FF5E) and characters without width.
"""

from __future__ import annotations

import base64
import re
from binascii import Error as NotBase64
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from spinneret.redaction.spans import Span

_ESCAPE: Final = re.compile(
    r"""[%&\\\u00ad\u200b-\u200f\u2060\ufeff](?:
        (?<=%)(?:25)*+(?P<percent>[2-7][0-9A-Fa-f]|0[9AaDd])
      | (?<=&)(?:(?P<entity>quot|apos|amp|lt|gt|equals|colon)|\#(?P<number>\d{2,3})
           |\#[xX](?P<hexadecimal>[0-9a-fA-F]{2}));
      | (?<=\\)\\{0,14}(?:(?:u00|x)(?P<unicode>[2-7][0-9a-fA-F])
           |u(?P<letter>(?!00[0-9]|[dD][89a-fA-F])[0-9a-fA-F]{4}))
      | (?<![%&\\])(?P<nothing>[\u00ad\u200b-\u200f\u2060\ufeff]*+))""",
    re.VERBOSE,
)
_ENTITIES: Final = {
    "quot": '"',
    "apos": "'",
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "equals": "=",
    "colon": ":",
}
_WIDE: Final = re.compile(r"[\uff01-\uff5e]")
_NARROWED: Final = {0xFF01 + place: 0x21 + place for place in range(0x5E)}
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_\-](?<![A-Za-z0-9+/_\-]{2})[A-Za-z0-9+/_\-]{19,}+={0,2}")
_HEX: Final = re.compile(
    r"[2-7](?<![A-Za-z0-9].)[0-9a-fA-F](?:[2-7][0-9a-fA-F]){11,}+(?![A-Za-z0-9])"
)


class Decoded:
    """A text without escapes; `origin` leads back."""

    def __init__(self, text: str) -> None:
        parts: list[str] = []
        self._places: list[int] = []  # where a piece begins in the decoded text …
        self._origins: list[int] = []  # … and in the original …
        self._ends: list[int] = []  # … and where it ends there
        length = done = 0
        for match in _ESCAPE.finditer(text):
            start, end = match.span()
            if done < start:
                length = self._add(parts, text[done:start], length, done, start)
            length = self._add(parts, _character(match), length, start, end)
            done = end
        self._add(parts, text[done:], length, done, len(text))
        self.text = "".join(parts)

    def _add(self, parts: list[str], piece: str, length: int, start: int, end: int) -> int:
        parts.append(piece)
        self._places.append(length)
        self._origins.append(start)
        self._ends.append(end)
        return length + len(piece)

    def origin(self, span: Span) -> Span:
        """The same span in the original text."""
        first = bisect_right(self._places, span.start) - 1
        start = self._origins[first] + span.start - self._places[first]
        last = bisect_right(self._places, span.end - 1) - 1
        end = self._origins[last] + span.end - self._places[last]
        verbatim = self._ends[last] - self._origins[last] == self._piece_length(last)
        return Span(start, end if verbatim else self._ends[last], span.replacement)

    def _piece_length(self, index: int) -> int:
        following = index + 1
        end = self._places[following] if following < len(self._places) else len(self.text)
        return end - self._places[index]


def decoded(text: str) -> Decoded | None:
    """The text without escapes; None if it has none."""
    if text.isascii() and not any(sign in text for sign in "%&\\"):
        return None
    wide = _WIDE.search(text) is not None
    if wide:
        text = text.translate(_NARROWED)
    return Decoded(text) if wide or _ESCAPE.search(text) else None


def hidden_texts(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and meaning of what may be text in base64 (RFC 4648) or hexadecimal."""
    for match in _HEX.finditer(text):
        if len(match[0]) % 2 == 0:
            yield (*match.span(), bytes.fromhex(match[0]).decode("ascii"))
    for match in _BASE64.finditer(text):
        meaning = _from_base64(match[0])
        if meaning is not None:
            yield (*match.span(), meaning)


def _from_base64(run: str) -> str | None:
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        data = base64.b64decode(run + "=" * (-len(run) % 4), validate=True)
        meaning = data.decode("utf-8")
    except (NotBase64, ValueError):
        return None
    return meaning if meaning.replace("\n", "").replace("\r", "").isprintable() else None


def _character(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "entity":
            return _ENTITIES[match["entity"]]
        case "number":
            return chr(int(match["number"]))
        case "nothing":
            return ""
        case group:
            return chr(int(match[str(group)], 16))

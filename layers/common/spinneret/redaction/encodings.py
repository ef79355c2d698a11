"""Decoding of escapes in texts, with a mapping back to positions in the source.

Covers percent-encoding (RFC 3986, section 2.1), character references of HTML, and escapes of JSON
and Python. Also covers full-width forms (U+FF01 to U+FF5E), zero-width characters, and terminal
colours (ECMA-48, section 5.4). Finds whole texts in base64 (RFC 4648) or hexadecimal, too.
"""

import base64
import html
import re
from binascii import Error as NotBase64
from collections.abc import Iterator
from typing import Final, NamedTuple

from spinneret.redaction.spans import Span

COLOUR: Final = "\x1b"
"""Replaces a colour during scanning: it separates words, and is removed from the decoded text."""

_CONTROL: Final = r"(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|[()][0-9A-Z])"  # after ESC: CSI, charset
_COLOURED: Final = re.compile(rf"\x1b++{_CONTROL}?|\x9b[0-9;]{{0,64}}m")
_ESCAPED: Final = re.compile(rf"""(?x)[%&\\\x1b\u00ad\u200b-\u200f\u2060\ufeff](?:
        (?<=%)(?:(?P<percent>[2-7][0-9A-Fa-f]|0[9AaDd])
           |1[Bb](?:%5[Bb]|\[)(?P<percent_colour>[0-?]{{0,64}}m))
      | (?<=&)(?P<entity>quot|apos|amp|lt|gt|equals|colon|\#\d{{2,3}}|\#[xX][0-9a-fA-F]{{2}});
      | (?<=\\)\\{{0,30}}+(?:(?:u001[bB]|x1[bB]|033|e)(?P<colour>{_CONTROL})
           |(?P<control>[nrt]) | (?:u00|x)(?P<unicode>[2-7aA][0-9a-fA-F])
           |u(?P<letter>(?!00[0-9aA]|[dD][89a-fA-F])[0-9a-fA-F]{{4}}))
      | (?P<nothing>(?<![%&\\])[\x1b\u00ad\u200b-\u200f\u2060\ufeff]*+))
""")
_NARROWED: Final = {0xFF01 + place: 0x21 + place for place in range(0x5E)}
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t"}
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_\-](?<![A-Za-z0-9+/_\-]{2})[A-Za-z0-9+/_\-]{19,}+={0,2}")
_HEX: Final = re.compile(
    r"[2-7](?<![A-Za-z0-9].)[0-9a-fA-F](?:[2-7][0-9a-fA-F]){11,}+(?![A-Za-z0-9])"
)


def uncoloured(text: str, instead: str = "") -> str:
    """Return the text with terminal control sequences replaced."""
    return _COLOURED.sub(instead, text) if "\x1b" in text or "\x9b" in text else text


class Decoded(NamedTuple):
    """A text without escapes, and the source position of each of its characters and of its end."""

    text: str
    origins: list[int]

    def origin(self, span: Span) -> Span:
        """Return the same span in the source."""
        return Span(self.origins[span.start], self.origins[span.end], span.replacement)


def decoded(text: str) -> Decoded | None:
    """Return the text without escapes; None if it has none."""
    if text.isascii() and not any(sign in text for sign in "%&\\\x1b"):
        return None
    source = text.translate(_NARROWED)
    pieces: list[str] = []
    origins: list[int] = []
    done = 0
    for escape in _ESCAPED.finditer(source):
        start, end = escape.span()
        meant = _meant(escape)
        pieces += (source[done:start], meant)
        origins.extend(range(done, start + len(meant)))
        done = end
    if not pieces and source == text:
        return None
    origins.extend(range(done, len(source) + 1))
    return Decoded("".join((*pieces, source[done:])), origins)


def hidden_texts(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and decoded text of possible base64 or hexadecimal texts."""
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
    """Return the character that the escape encodes, or an empty text."""
    kind = str(escape.lastgroup)
    match kind:
        case "nothing":
            return ""
        case "colour" | "percent_colour":
            return COLOUR
        case "control":
            return _CONTROLS[escape[kind]]
        case "entity":
            return html.unescape(escape[0])
        case _:
            return chr(int(escape[kind], 16))

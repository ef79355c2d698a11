"""The Content-Type header, and a guess if a host sends none."""

import re
from typing import Final

SNIFF_BYTES: Final = 512  # enough for a byte-order mark, blanks and the start of a comment

_TCHAR: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]"
_NAME: Final = rf"{_TCHAR}{{1,127}}"  # RFC 6838, section 4.2
_MEDIA_TYPE: Final = re.compile(rf"\s*({_NAME}/{_NAME})(?!{_TCHAR})\s*")
_CHARSET: Final = re.compile(
    r""";\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE
)
# The HTML patterns of the WHATWG MIME Sniffing standard, section 7.1.
_HTML_STARTS: Final = tuple(
    b"<" + name
    for name in (
        b"!doctype html",
        *(b"html", b"head", b"script", b"iframe", b"h1", b"div", b"font", b"table", b"a"),
        *(b"style", b"title", b"b", b"body", b"br", b"p", b"!--"),
    )
)


def parse_content_type(value: str) -> tuple[str, str | None]:
    """Return media type (lower case, empty if missing or malformed) and charset as declared."""
    media_type = _MEDIA_TYPE.match(value)
    if media_type is None:
        return "", None
    charset = _CHARSET.search(value, media_type.end())
    label = next(filter(None, charset.groups()), None) if charset else None
    return media_type.group(1).lower(), label


def sniff_media_type(head: bytes) -> str:
    """Return text/html if the first bytes of a body look like it, else application/octet-stream."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\t\n\f\r ")[:SNIFF_BYTES].lower()
    for pattern in _HTML_STARTS:
        after = start[len(pattern) : len(pattern) + 1]
        if start.startswith(pattern) and (pattern == b"<!--" or after in (b" ", b">", b"\n")):
            return "text/html"
    return "application/octet-stream"

"""robots.txt as lines: kind and value of each, tolerating errors."""

import re
from collections.abc import Iterator
from enum import Enum
from typing import Final

from spinneret.kernel import bounds
from spinneret.web import limits

_UTF8_MARK: Final = re.compile(rb"(?:\xef(?:\xbb\xbf?)?)?")  # Google: a part of it is skipped too
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


class Field(Enum):
    """Kinds of lines with the names that start them; Google: any text may follow a name."""

    USER_AGENT = (b"user-agent", b"useragent", b"user agent")
    ALLOW = (b"allow",)
    DISALLOW = (b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw")
    CRAWL_DELAY = (b"crawl-delay", b"crawl delay")
    SITEMAP = (b"sitemap", b"site-map")


_STARTS: Final = tuple((kind.value, kind) for kind in Field)  # a file may have 500,000 lines


def bounded(content: bytes) -> bytes:
    """Return the whole lines in the first 500 KiB (RFC 9309, section 2.5).

    Half a rule could match more than the whole one: "/" of "/private".
    """
    if len(content) <= bounds.ROBOTS_MAX_BYTES:
        return content
    head = content[: bounds.ROBOTS_MAX_BYTES + 1]
    return content[: max(head.rfind(b"\n"), head.rfind(b"\r"), 0)]


def read_lines(content: bytes | str) -> Iterator[tuple[Field, bytes]]:
    """Yield kind and value of every meaningful line in order; never raises."""
    octets = content.encode("utf-8", "replace") if isinstance(content, str) else content
    octets = bounded(octets)
    if octets.startswith(_UTF16_MARKS):  # violates the RFC, but has only one possible meaning
        octets = octets.decode("utf-16", "replace").encode("utf-8")
    octets = _UTF8_MARK.sub(b"", octets, count=1)
    for line in octets.splitlines():  # on bytes: only LF, CR and CRLF, as in the RFC
        if not line:
            continue
        name, value = _name_and_value(line[: limits.ROBOTS_LINE_MAX_BYTES])
        for start, kind in _STARTS:
            if name.startswith(start):
                yield kind, value


def _name_and_value(line: bytes) -> tuple[bytes, bytes]:
    """Return the name in lower case, and the value.

    Google: without a colon, two words are taken as name and value.
    """
    text = line.partition(b"#")[0]
    name, colon, value = text.partition(b":")
    if not colon:
        words = text.split()
        name, value = words if len(words) == 2 else (b"", b"")
    return name.strip().lower(), value.strip()

"""Credentials in Authorization and Cookie headers inside a text (RFC 9110, 11.6; RFC 6265, 4)."""

import re
from collections.abc import Iterator
from typing import Final

from spinneret.redaction import values
from spinneret.redaction.spans import Span

_SCHEME: Final = re.compile(
    r"(?i)(?P<scheme>aws4-hmac-sha256|hmac[\w\-]*|scram-sha-\d+|[a-z][a-z\-]+)(?P<gap>[ \t]+|=)"
)
_PARAMETER: Final = r"""[\w\-]{1,40}=(?:\\*"[^"\\\r\n]*\\*"|[^\s,"']+)"""
_PARAMETERS: Final = re.compile(rf"{_PARAMETER}(?:,[ \t]*{_PARAMETER})*+")
_TOKEN: Final = re.compile(r"(?:[^\s\"'<>,;\\]|\\(?![nrt\"'\\])|[,;](?=[^\s\"',;]))+")
_COOKIE: Final = re.compile(
    r"""[ \t]*(?:(?P<name>[^\s=;,"'<>\\]{1,128})=)?
        (?P<value>\w{3},[ \t][^;"'\\\r\n]{1,40}?GMT  # a date
        |\\{0,15}"[^"\r\n;]{0,4096}"
        |(?:[^\s;,"'\\<>]|,(?![ \t]*[^\s=;,"'\\]{1,64}=)|\\(?![nrt"'\\]))*)""",
    re.VERBOSE,
)
_COOKIE_END: Final = re.compile(r"[ \t]*;[ \t]*|,[ \t]*(?=[^\s=;,\"'\\]{1,64}=)")
_ATTRIBUTES: Final = frozenset(  # RFC 6265bis, section 4.1
    {"path", "domain", "expires", "max-age", "samesite", "priority", "version", "comment"}
)
_FLAGS: Final = frozenset({"secure", "httponly", "partitioned"})


def authorization(text: str, start: int) -> Iterator[Span]:
    """Yield the credentials after `Authorization:`, without the scheme."""
    scheme = _SCHEME.match(text, start)
    position = scheme.end() if scheme else start
    named = _PARAMETERS.match(text, position)
    end = max(values.plain_end(text, position, _TOKEN), named.end() if named else position)
    if end == position and scheme is not None and scheme["gap"] != "=":
        position, end = start, scheme.end("scheme")  # the header has one word only
    if not values.is_filler(text[position:end]):
        yield Span(position, end)


def cookies(text: str, start: int) -> Iterator[Span]:
    """Yield the values after `Cookie:` and `Set-Cookie:`, without names and attributes."""
    position = start
    while (cookie := _COOKIE.match(text, position)) is not None and cookie.end() > position:
        name, end = (cookie["name"] or "").lower(), cookie.end()
        if name not in _ATTRIBUTES and cookie["value"].lower() not in _FLAGS:
            if not name and position == start and values.is_filler(cookie["value"]):
                return
            yield Span(*cookie.span("value"))
        following = _COOKIE_END.match(text, end)
        if following is None:
            return
        position = following.end()

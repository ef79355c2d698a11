"""The values of Authorization and Cookie headers inside a text (RFC 9110, 11.6; RFC 6265, 4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from spinneret.redaction import values
from spinneret.redaction.spans import MARK, Span

_SCHEME: Final = re.compile(
    r"""(?P<scheme>(?:aws4-hmac-sha256|aws|basic|bearer|digest|negotiate|ntlm|token|api-?key|oauth
        |hawk|dpop|gnap|sharedkey(?:lite)?|sharedaccesssignature|googlelogin|bot|jwt|ssws|mac|hmac
        [\w\-]*|sapisidhash|signature|splunk|geniekey|key|mutual|scram-sha-\d+|zoho-oauthtoken
        |[A-Z][A-Za-z\-]{2,20}))(?P<gap>[ \t]+|=)""",
    re.VERBOSE | re.IGNORECASE,
)
_PARAMETERS: Final = re.compile(
    r"""[\w\-]{1,40}=(?:\\*"[^"\\\r\n]*\\*"|[^\s,"']+)
        (?:,[ \t]*[\w\-]{1,40}=(?:\\*"[^"\\\r\n]*\\*"|[^\s,"']+))*+""",
    re.VERBOSE,
)
_NAMED: Final = frozenset(
    {"digest", "oauth", "hawk", "signature", "mac", "aws4-hmac-sha256", "gnap", "googlelogin"}
)
_TOKEN: Final = re.compile(r"(?:[^\s\"'<>,;\\]|\\(?![nrt\"'\\])|[,;](?=[^\s\"',;]))+")
_COOKIE: Final = re.compile(
    r"""(?P<space>[ \t]*)(?:(?P<name>[^\s=;,"'<>\\]{1,128})=)?
        (?P<value>\\{0,15}"[^"\r\n;]{0,4096}"|(?:[^\s;"'\\<>]|\\(?![nrt"'\\]))*)""",
    re.VERBOSE,
)
_ATTRIBUTES: Final = frozenset(  # RFC 6265bis, section 4.1
    {"path", "domain", "expires", "max-age", "samesite", "priority", "version", "comment"}
)
_FLAGS: Final = frozenset({"secure", "httponly", "partitioned"})
_EXPIRES: Final = re.compile(r"[ \t]*\w{3},[^;\"'\\\r\n]{1,40}?GMT|[^;\"'\\\r\n]{0,40}")


def authorization(text: str, start: int) -> Iterator[Span]:
    """Credentials behind `Authorization:`; the scheme stays."""
    scheme = _SCHEME.match(text, start)
    position = scheme.end() if scheme else start
    named = _PARAMETERS.match(text, position)
    if named is not None and (
        scheme is None or scheme["scheme"].lower() in _NAMED or '="' in named[0]
    ):
        yield Span(position, named.end(), MARK)
        return
    end = values.plain_end(text, position, _TOKEN)
    if end > position:
        yield from _unless_filler(text, position, end)
    elif scheme is not None and scheme["gap"] != "=":
        yield from _unless_filler(text, start, scheme.end("scheme"))


def _unless_filler(text: str, start: int, end: int) -> Iterator[Span]:
    if not values.is_template(text, start) and not values.is_filler(
        text[start : min(end, start + 200)], "authorization"
    ):
        yield Span(start, end, MARK)


def cookies(text: str, start: int) -> Iterator[Span]:
    """The values behind `Cookie:` and `Set-Cookie:`; names and attributes stay."""
    position, first = start, True
    while (match := _COOKIE.match(text, position)) is not None and match.end() > position:
        name = (match["name"] or "").lower()
        end = match.end()
        if name == "expires":
            date = _EXPIRES.match(text, match.start("value"))
            end = date.end() if date else end
        elif name not in _ATTRIBUTES and match["value"].lower() not in _FLAGS:
            value = match["value"]
            if name or not (first and values.is_filler(value, "cookie")):
                yield Span(*match.span("value"), MARK)
            elif first:
                return
        first = False
        position = end
        separator = _SEPARATOR.match(text, position)
        if separator is None:
            return
        position = separator.end()


_SEPARATOR: Final = re.compile(r"[ \t]*;[ \t]*|,[ \t]*(?=[^\s=;,\"'\\]{1,64}=)")

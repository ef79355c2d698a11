"""Credentials in front of a host (RFC 3986, section 3.2.1), with and without a scheme."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from spinneret.redaction.spans import MARK, Span

_SLASHES: Final = r":\\{0,3}/\\{0,3}/"
_USERINFO: Final = re.compile(
    rf"{_SLASHES}(?P<user>[^\s/?#:@\"'<>\[\]\\]{{0,256}}+)"
    r"(?::(?P<password>[^\s/?#\"'<>`\\]{0,1024}))?@(?=[^\s@\"'<>]|$)"
)
# A password that holds `/`, `?` or `#` unescaped; a port in its place means there is none.
_LOOSE: Final = re.compile(
    rf"{_SLASHES}(?P<user>[^\s/?#:@\"'<>\[\]\\]{{0,256}}+)"
    r":(?!\d{1,5}(?:[/?#]|$))(?P<password>[^\s\"'<>`\\@]{1,256}+)"
    r"@(?=[\w.\-]{1,253}(?::\d{1,5})?(?:[/?\s\"'<>,;]|$))"
)
_BESIDE: Final = (
    # host part of Go's MySQL driver; Oracle's thin driver; a proxy without a scheme
    ("@", re.compile(r"(?<![\w.\-])[\w.\-]{1,64}+:([^\s@\"']{1,256})@(?:tcp|udp|unix)\(")),
    ("thin:", re.compile(r"thin:\w{1,64}/([^\s@\"']{1,128})@")),
    (
        "@",
        re.compile(
            r"(?<![\w./:@\-])(?!mailto:|sip:)[\w.\-]{1,64}+:([^\s@:/\"'<>]{3,128}+)"
            r"@[\w.\-]{1,253}:\d{2,5}\b"
        ),
    ),
    # .pgpass: host:port:database:user:password
    (
        ":",
        re.compile(
            r":(?:54\d\d|6[45]\d\d|\*):[^\s:]{1,64}+:[^\s:]{1,64}+:([^\s:]\S*+)(?=[\r\n]|$)"
        ),
    ),
)
_STANDS_FOR_NO_PASSWORD: Final = frozenset({"", "x", "x-oauth-basic", "api_token", "unused"})
_TOKEN: Final = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[\w.\-%~+=]{16,}")


def userinfo(text: str) -> Iterator[Span]:
    """Passwords, and user names that are tokens themselves."""
    for pattern in (_USERINFO, _LOOSE) if "@" in text else ():
        for match in pattern.finditer(text):
            yield from _credentials(match)
    for anchor, pattern in _BESIDE:
        if anchor in text:
            for match in pattern.finditer(text):
                yield Span(*match.span(1), MARK)


def _credentials(match: re.Match[str]) -> Iterator[Span]:
    password = match["password"]
    if password:
        yield Span(*match.span("password"), MARK)
    token = _TOKEN.fullmatch(match["user"]) is not None
    if token or (password is not None and match["user"] and _is_empty(password)):
        yield Span(*match.span("user"), MARK)


def _is_empty(password: str) -> bool:
    return password.lower() in _STANDS_FOR_NO_PASSWORD

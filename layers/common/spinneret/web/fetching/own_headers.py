"""Rules for the headers that an owner adds to requests. All functions are pure."""

import re
from collections.abc import Collection, Mapping
from typing import Final

from spinneret.kernel.errors import ValidationFailed
from spinneret.redaction import MARK

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2
_VALUE: Final = re.compile(r"[!-~](?:[ \t!-~]*[!-~])?")  # RFC 9110, section 5.5, in ASCII
_RESERVED: Final = frozenset(
    {
        # These apply to one hop only: RFC 9110, section 7.6.1.
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te"),
        *("proxy-connection", "trailer", "transfer-encoding", "upgrade", "http2-settings"),
        # The fetcher sets the destination, the framing and the accepted encodings.
        *("host", "content-length", "content-encoding", "expect", "accept-encoding"),
        # These request a part of a page or none, which the fetcher decides.
        *("range", "if-range", "if-match", "if-none-match", "if-modified-since"),
        "if-unmodified-since",
    }
)


def require_own_headers(
    headers: Mapping[str, str], field: str, *, most: int, reserved: Collection[str]
) -> None:
    """Raise ValidationFailed, whose details name the header, unless all may be sent.

    Refused are more than `most` headers, invalid names or values, names given twice, headers
    reserved for the fetcher or by `reserved` (lower case), and redacted values.
    """
    if len(headers) > most:
        raise ValidationFailed.about(field, f"more than {most} headers")
    seen: set[str] = set()
    for name, value in headers.items():
        lower, path = name.lower(), f"{field}.{name}"
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ValidationFailed.about(path, "is not a valid header")
        if lower in _RESERVED or lower in reserved:
            raise ValidationFailed.about(path, "is reserved for the fetcher")
        if lower in seen:
            raise ValidationFailed.about(path, "is given twice")
        if MARK in value:
            raise ValidationFailed.about(path, "is a redacted value from a response")
        seen.add(lower)

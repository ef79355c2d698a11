"""Rules for the headers that a config may send. All functions are pure."""

import json
import re
from collections.abc import Mapping
from typing import Final

from spinneret.crawl.configs import limits
from spinneret.kernel.errors import ValidationFailed
from spinneret.redaction import MARK, redact
from spinneret.web.politeness.robots import product_token_of

USER_AGENT: Final = "user-agent"

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2
_VALUE: Final = re.compile(r"[!-~](?:[ \t!-~]*[!-~])?")  # RFC 9110, section 5.5, in ASCII
_RESERVED: Final = frozenset(
    {
        # These apply to one hop only: RFC 9110, section 7.6.1.
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te"),
        *("proxy-connection", "trailer", "transfer-encoding", "upgrade", "http2-settings"),
        # The fetcher sets the destination, the framing and the accepted encodings.
        *("host", "content-length", "content-type", "content-encoding", "expect"),
        "accept-encoding",
        # These request a part of a page or none, which the fetcher decides.
        *("range", "if-range", "if-match", "if-none-match", "if-modified-since"),
        "if-unmodified-since",
    }
)


def allowed_headers(headers: Mapping[str, str], user_agent: str) -> dict[str, str]:
    """Return the headers unchanged; `user_agent` is the stage's own.

    Raises ValidationFailed, whose details name the header. Refused are too many or too long
    headers, invalid names or values, and headers reserved for the fetcher. Also refused are a
    User-Agent with another product token, and a redacted value.
    """
    if len(headers) > limits.CONFIG_HEADERS_MAX:
        raise _refused("headers", f"more than {limits.CONFIG_HEADERS_MAX} headers")
    seen: set[str] = set()
    for name, value in headers.items():
        lower = name.lower()
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise _refused(f"headers.{name}", "is not a valid header")
        if lower in _RESERVED:
            raise _refused(f"headers.{name}", "is reserved for the fetcher")
        if lower in seen:
            raise _refused(f"headers.{name}", "is given twice")
        if MARK in value:
            raise _refused(f"headers.{name}", "is a redacted value from a response")
        if lower == USER_AGENT and product_token_of(value) != product_token_of(user_agent):
            raise _refused(f"headers.{name}", f"has to begin with {product_token_of(user_agent)}")
        seen.add(lower)
    if len(json.dumps(dict(headers)).encode()) > limits.CONFIG_HEADERS_MAX_BYTES:
        raise _refused("headers", f"more than {limits.CONFIG_HEADERS_MAX_BYTES} bytes")
    return dict(headers)


def shown(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers with secrets redacted."""
    return dict(redact(dict(headers)))


def parted(headers: Mapping[str, str]) -> tuple[str | None, dict[str, str]]:
    """Return the User-Agent, sent to every hop, and the headers sent to the page's origin only."""
    agent = next((value for name, value in headers.items() if name.lower() == USER_AGENT), None)
    return agent, {name: value for name, value in headers.items() if name.lower() != USER_AGENT}


def _refused(field: str, reason: str) -> ValidationFailed:
    return ValidationFailed.of_field(field, reason, error=f"{field} {reason}")

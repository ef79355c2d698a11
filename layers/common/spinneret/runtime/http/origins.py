"""Origins of web pages: whose scripts may call the API (CORS), and use the refresh cookie."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from spinneret.kernel.errors import Forbidden

_READ: Final = (
    "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Upload-Id, "
    "X-API-Key"
)
_SHOWN: Final = (
    "Idempotent-Replayed, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After"
)
_PREFLIGHT_SECONDS: Final = 600  # Chromium keeps a preflight's answer for two hours at most

_LOOPBACK: Final = re.compile(
    r"(localhost|[a-z0-9.-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?"
)

Headers = Mapping[str, str]
"""Headers of a request, with lower-case names."""


def cors_headers(headers: Headers, allowed: Collection[str]) -> dict[str, str]:
    """Return the response headers that let an allowed origin read the answer (Fetch standard).

    Without allowed origins there are none. A cache must not give one origin's answer to another.
    """
    if not allowed:
        return {}
    origin = headers.get("origin", "")
    if origin not in allowed:
        return {"Vary": "Origin"}
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Credentials": "true",  # the refresh cookie
        "Access-Control-Expose-Headers": _SHOWN,
        "Vary": "Origin",
    }


def preflight(
    method: str, headers: Headers, allowed: Collection[str], methods: Sequence[str]
) -> dict[str, Any] | None:
    """Return the answer to an allowed origin's preflight; None for any other request.

    `methods` are all that the path has.
    """
    if method != "OPTIONS" or "access-control-request-method" not in headers:
        return None
    if headers.get("origin") not in allowed or not methods:
        return None
    granted = {
        "Access-Control-Allow-Methods": ", ".join(methods),
        "Access-Control-Allow-Headers": _READ,
        "Access-Control-Max-Age": str(_PREFLIGHT_SECONDS),
    }
    return {"statusCode": 204, "headers": granted, "body": ""}


def require_own_page(headers: Headers, allowed: Collection[str]) -> None:
    """Raise Forbidden unless a page of the API's own origin, or of an allowed one, asks.

    The refresh cookie goes along with every request of the same site, so the header `Origin`, which
    no page can forge, has to name the page.
    """
    host = headers.get("host", "").lower()
    own = {f"https://{host}"} | ({f"http://{host}"} if is_loopback(host) else set())
    if headers.get("origin") not in own | set(allowed):
        raise Forbidden("the request's Origin may not use the refresh cookie")


def is_loopback(host: str) -> bool:
    """Return whether a Host header names this machine."""
    return _LOOPBACK.fullmatch(host.lower()) is not None

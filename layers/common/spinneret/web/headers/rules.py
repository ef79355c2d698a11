"""Rules for the headers that a tenant may send. All functions are pure."""

import json
from collections.abc import Mapping
from typing import Final

from spinneret.kernel.errors import ValidationFailed
from spinneret.redaction import redact
from spinneret.web import limits
from spinneret.web.fetching.own_headers import require_own_headers
from spinneret.web.fetching.urls import parse_url
from spinneret.web.politeness.robots import product_token_of

USER_AGENT: Final = "user-agent"


def allowed_headers(headers: Mapping[str, str], user_agent: str) -> dict[str, str]:
    """Return the headers unchanged; `user_agent` is the stage's own.

    Raises ValidationFailed, whose details name the header. Refused are too many or too long
    headers, invalid names or values, and headers reserved for the fetcher. Also refused are a
    User-Agent with another product token, and a redacted value.
    """
    require_own_headers(headers, "headers", most=limits.HEADERS_MAX, reserved={"content-type"})
    for name, value in headers.items():
        own = product_token_of(user_agent)
        if name.lower() == USER_AGENT and product_token_of(value) != own:
            raise ValidationFailed.about(f"headers.{name}", f"has to begin with {own}")
    if len(json.dumps(dict(headers)).encode()) > limits.HEADERS_MAX_BYTES:
        raise ValidationFailed.about("headers", f"more than {limits.HEADERS_MAX_BYTES} bytes")
    return dict(headers)


def require_same_origin(former: str, url: str) -> None:
    """Refuse to keep headers for another origin, whose owner would learn them."""
    if parse_url(former).origin != parse_url(url).origin:
        message = "were given for another origin; send them again, or {} to remove them"
        raise ValidationFailed.of_field("headers", message)


def shown(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers with secrets redacted."""
    return dict(redact(dict(headers)))


def parted(headers: Mapping[str, str]) -> tuple[str | None, dict[str, str]]:
    """Return the User-Agent, sent to every hop, and the headers sent to the page's origin only."""
    agent = next((value for name, value in headers.items() if name.lower() == USER_AGENT), None)
    return agent, {name: value for name, value in headers.items() if name.lower() != USER_AGENT}

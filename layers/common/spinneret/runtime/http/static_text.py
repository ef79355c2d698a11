"""Texts for every caller, with the headers that let a browser keep them."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aws_lambda_powertools.event_handler import Response

from spinneret.runtime.http.origins import Headers

REVALIDATED: Final = "public, max-age=300"
"""Cached for five minutes, then revalidated with the ETag."""


@dataclass(frozen=True, kw_only=True)
class StaticText:
    """A text with its content type and headers."""

    text: str
    content_type: str
    headers: Mapping[str, str]


def static_text(
    text: str,
    content_type: str,
    headers: Mapping[str, str] | None = None,
    *,
    cached: str = REVALIDATED,
) -> StaticText:
    """Return the text with an ETag, `cached` as its Cache-Control, and the given headers."""
    always = {
        "Cache-Control": cached,
        "ETag": f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"',
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return StaticText(text=text, content_type=content_type, headers={**always, **(headers or {})})


def hash_source(inline: str) -> str:
    """Return the source expression of this inline text (Content Security Policy level 3, section
    2.3.1).
    """
    digest = hashlib.sha256(inline.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def text_response(served: StaticText, request: Headers) -> Response[str]:
    """Return the text, or 304 if the client has it (RFC 9110, section 13.1.2)."""
    known = request.get("If-None-Match", "")
    if served.headers["ETag"] in (tag.strip().removeprefix("W/") for tag in known.split(",")):
        return Response(status_code=304, body="", headers=dict(served.headers))
    return Response(
        status_code=200,
        content_type=served.content_type,
        body=served.text,
        headers=dict(served.headers),
    )

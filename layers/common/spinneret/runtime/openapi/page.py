"""The stored document, and the page that shows it: Swagger UI, without external resources.

Scripts and styles are those published with powertools. They are inline in the page, so that its
Content-Security-Policy can allow each by its hash and no others.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

_ASSETS: Final = "event_handler/openapi/swagger_ui"
_KEPT: Final = "public, max-age=300"  # then revalidated with the ETag
_START: Final = """
SwaggerUIBundle({
  url: "api/v1/openapi.json",
  dom_id: "#document",
  deepLinking: true,
  showExtensions: true,
  validatorUrl: null,
});
"""
_STYLE: Final = "body { margin: 0 }"
_POLICY: Final = (
    "default-src 'none'; script-src {scripts}; style-src {styles}; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, kw_only=True)
class StaticText:
    """A text with its content type and headers."""

    text: str
    content_type: str
    headers: Mapping[str, str]


@cache
def document() -> StaticText:
    """Return the document that `docs/render.py` has written."""
    text = (files("spinneret.runtime.openapi") / "openapi.json").read_text(encoding="utf-8")
    return _served(text, "application/json", {})


@cache
def page() -> StaticText:
    """Return the page for the path `/docs`, to which the document's URL is relative."""
    folder = files("aws_lambda_powertools") / _ASSETS
    bundle = (folder / "swagger-ui-bundle.min.js").read_text(encoding="utf-8")
    css = (folder / "swagger-ui.min.css").read_text(encoding="utf-8")
    scripts, styles = (bundle, _START), (css, _STYLE)
    text = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Spinneret API</title>'
        + "".join(f"<style>{each}</style>" for each in styles)
        + '</head><body><main id="document"></main>'
        + "".join(f"<script>{each}</script>" for each in scripts)
        + "</body></html>\n"
    )
    policy = _POLICY.format(
        scripts=" ".join(map(_source, scripts)), styles=" ".join(map(_source, styles))
    )
    return _served(text, "text/html; charset=utf-8", {"Content-Security-Policy": policy})


def _served(text: str, content_type: str, headers: Mapping[str, str]) -> StaticText:
    always = {
        "Cache-Control": _KEPT,
        "ETag": f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"',
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return StaticText(text=text, content_type=content_type, headers={**always, **headers})


def _source(inline: str) -> str:
    """Return the source expression of this inline text (Content Security Policy level 3, section
    2.3.1).
    """
    digest = hashlib.sha256(inline.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"

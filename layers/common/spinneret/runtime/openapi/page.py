"""The stored document, and the page that shows it: Swagger UI, without external resources.

The page is small; it loads Swagger UI, as published with powertools, and an area's part of the
document when a reader opens the area. Its Content-Security-Policy allows its own inline script and
style by their hashes, and files of this API.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Final

from spinneret.kernel.errors import NotFound
from spinneret.runtime.http.static_text import StaticText, hash_source, static_text
from spinneret.runtime.openapi.areas import AREA, AREAS, part_of

_ASSETS: Final = "event_handler/openapi/swagger_ui"
_LIBRARY: Final[Mapping[str, tuple[str, str]]] = {
    "swagger-ui.js": ("swagger-ui-bundle.min.js", "text/javascript; charset=utf-8"),
    "swagger-ui.css": ("swagger-ui.min.css", "text/css; charset=utf-8"),
}
_STYLE: Final = """
body { margin: 0 auto; max-width: 72rem; padding: 1rem; font: 1rem/1.5 sans-serif }
input { box-sizing: border-box; width: 100%; padding: .5rem; font: inherit }
summary { padding: .5rem 0; font-size: 1.25rem; cursor: pointer }
li button { border: 0; padding: .1rem 0; background: none; font: inherit; text-align: left }
code { background: #f2f2f2; padding: 0 .2rem }
details > div { overflow-x: auto }
main .swagger-ui :is(.info, .servers, .servers-title, .response-col_links) {
  display: none
}
main .swagger-ui .scheme-container { margin: 0; padding: .5rem 0; box-shadow: none }
main .swagger-ui .wrapper { padding: 0 }
"""
_SHARED: Final = "Credentials, errors, lists, rate limits"
_POLICY: Final = (
    "default-src 'none'; script-src 'self' {script}; style-src 'self' {style}; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@cache
def document() -> StaticText:
    """Return the document that `docs/render.py` has written."""
    text = (files("spinneret.runtime.openapi") / "openapi.json").read_text(encoding="utf-8")
    return static_text(text, "application/json")


@cache
def page() -> StaticText:
    """Return the page for the path `/docs`, to which all its URLs are relative.

    It lists the areas and their operations; opening an area loads its part of the document. What
    Swagger UI would repeat in each area is shown once, and hidden there.
    """
    whole = json.loads(document().text)
    script = (files("spinneret.runtime.openapi") / "page.js").read_text(encoding="utf-8")
    text = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Spinneret API</title>'
        f"<style>{_STYLE}</style></head><body><h1>Spinneret API</h1>"
        f"<details><summary>{_SHARED}</summary>{_html(whole['info']['description'])}</details>"
        '<p><input id="filter" type="search" aria-label="Filter operations"'
        ' placeholder="Filter by path, method or words"></p><main>'
        + "".join(_section(whole, area, title) for area, title in AREAS.items())
        + f"</main><script>{script}</script></body></html>\n"
    )
    policy = _POLICY.format(script=hash_source(script), style=hash_source(_STYLE))
    return static_text(text, "text/html; charset=utf-8", {"Content-Security-Policy": policy})


@cache
def part(name: str) -> StaticText:
    """Return a file that the page loads: `<area>.json` or a file of Swagger UI.

    Raises NotFound for other names.
    """
    if name in _LIBRARY:
        file, content_type = _LIBRARY[name]
        text = (files("aws_lambda_powertools") / _ASSETS / file).read_text(encoding="utf-8")
        return static_text(text, content_type)
    area = name.removesuffix(".json")
    if area not in AREAS or area == name:
        raise NotFound("the page has no such part")
    described = part_of(json.loads(document().text), area)
    return static_text(json.dumps(described, ensure_ascii=False), "application/json")


def _html(text: str) -> str:
    """Return the paragraphs, bold words and code of a text in Markdown."""
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text, quote=False))
    marked = re.sub(r"`(.+?)`", r"<code>\1</code>", bold)
    return "".join(f"<p>{each}</p>" for each in marked.split("\n\n"))


def _section(whole: Mapping[str, Any], area: str, title: str) -> str:
    """Return an area with its operations, which are hidden until the filter matches them."""
    names = {tag["name"] for tag in whole["tags"] if tag[AREA] == area}
    items = [
        f'<li hidden><button data-tag="{tag}" data-operation="{each["operationId"]}">'
        f"{method.upper()} {escape(path)}: {escape(each['summary'])}</button></li>"
        for path, methods in whole["paths"].items()
        for method, each in methods.items()
        for tag in each["tags"]
        if tag in names
    ]
    return (
        f'<section id="{area}"><details><summary>{escape(title)} ({len(items)})</summary>'
        f"<div></div></details><ul hidden>{''.join(items)}</ul></section>"
    )

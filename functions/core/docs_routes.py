"""Routes: OpenAPI document and its HTML page."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import NO_SERVICES, Routes
from spinneret.runtime.http.static_text import StaticText, text_response
from spinneret.runtime.openapi.page import document, page, part

routes = Routes(NO_SERVICES)
router = routes.router


@router.get("/api/v1/openapi.json", **declared(None, None, {200: dict[str, Any], 304: None}))
def get_document() -> Response[str]:
    """Return this document."""
    return _answer(document())


@router.get("/docs", **declared(None, None, {200: "text/html", 304: None}))
def get_page() -> Response[str]:
    """Return this document as an HTML page on which requests can be tried out."""
    return _answer(page())


@router.get("/docs/<part_name>", **declared(None, None, {200: "text/plain", 304: None}))
def get_page_part(part_name: str) -> Response[str]:
    """Return a file that the page loads: the part of this document about an area, or a library."""
    return _answer(part(part_name))


def _answer(served: StaticText) -> Response[str]:
    return text_response(served, router.current_event.headers)

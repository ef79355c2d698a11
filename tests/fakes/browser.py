"""A browser that answers from a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from spinneret.kernel.errors import DomainError
from spinneret.web.browser.models import (
    Dom,
    ImageFormat,
    LabFigures,
    Pdf,
    RenderedPage,
    RenderRequest,
    Screenshot,
    ScriptOutcome,
    Scripts,
)
from spinneret.web.fetching.urls import Url, parse_url

IMAGES: Final = {
    ImageFormat.PNG: b"\x89PNG\r\n\x1a\n of ",
    ImageFormat.JPEG: b"\xff\xd8\xff of ",
    ImageFormat.WEBP: b"RIFF\x00\x00\x00\x00WEBP of ",
}
"""First bytes of the images; the page's URL follows them."""


@dataclass(frozen=True, kw_only=True)
class Rendering:
    """A page as the browser renders it."""

    dom: str = "<!doctype html><title>A page</title><p>Text."
    status_code: int = 200
    redirects: tuple[str, ...] = ()
    """URLs to which the requested one redirects in turn; the last one has the page."""
    scripts: tuple[ScriptOutcome, ...] = ()
    """Outcomes of the task's scripts; missing ones are `null`."""
    console_errors: tuple[str, ...] = ()
    is_cut: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    figures: LabFigures | None = None


class FakeBrowser:
    """Implements `Browser` and keeps its requests; raises KeyError for a URL without a page."""

    def __init__(self, pages: Mapping[str, Rendering | DomainError]) -> None:
        self.pages = {parse_url(url).text: answer for url, answer in pages.items()}
        self.requests: list[RenderRequest] = []

    def render(self, request: RenderRequest) -> RenderedPage:
        """Return the task's output for the page, or raise the error that is set for its URL."""
        self.requests.append(request)
        if request.left_seconds is not None:
            request.left_seconds()
        answer = self.pages[request.url.text]
        hops = () if isinstance(answer, DomainError) else answer.redirects
        chain = [request.url, *map(parse_url, hops)]
        for url in chain:
            if request.before_document is not None:
                request.before_document(url)
        if isinstance(answer, DomainError):
            raise answer
        return RenderedPage(
            requested=request.url,
            url=chain[-1],
            status_code=answer.status_code,
            media_type="text/html",
            headers=answer.headers,
            body=_body(request, answer, chain[-1]),
            scripts=_outcomes(request, answer),
            figures=answer.figures if request.task == Dom(is_measured=True) else None,
            is_cut=answer.is_cut,
            console_errors=answer.console_errors,
            requests=len(chain),
            transferred_bytes=len(answer.dom),
            duration_ms=1000,
        )


def _body(request: RenderRequest, answer: Rendering, url: Url) -> bytes:
    match request.task:
        case Screenshot(format=form):
            return IMAGES[form] + url.text.encode()
        case Pdf():
            return b"%PDF-1.4 of " + url.text.encode()
        case Dom():
            return answer.dom.encode()
        case Scripts():
            return b""


def _outcomes(request: RenderRequest, answer: Rendering) -> tuple[ScriptOutcome, ...]:
    if not isinstance(request.task, Scripts):
        return ()
    missing = len(request.task.sources) - len(answer.scripts)
    return (*answer.scripts, *(ScriptOutcome(value="null") for _ in range(missing)))

"""Pages of rendered crawls: opened in the browser, and taken for the response of their host."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final

from spinneret.content.extraction.shells import is_shell
from spinneret.crawl.configs.rendering import Rendering, read_rendering
from spinneret.jobs.models import Job
from spinneret.kernel.service import service
from spinneret.web.browser.models import Dom, RenderRequest
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.fetching.rules import decode_text
from spinneret.web.fetching.urls import Url
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.polite_browser import PoliteBrowser

_VALIDATORS: Final = ("etag", "last-modified")


@dataclass(frozen=True, kw_only=True)
class PageToRender:
    """A page of a crawl that is opened in the browser."""

    url: Url
    rendering: Rendering
    left_seconds: Callable[[], float]
    """See FetchRequest."""
    before_redirect: Callable[[Url], None]


@service
class PageRenderer:
    """Opens pages like `PoliteFetcher.fetch` fetches them."""

    browser: PoliteBrowser

    def render(
        self, caller: Caller, wanted: PageToRender, options: FetchOptions
    ) -> FetchedPage | WaitUntil:
        """Return the rendered document as a response. Raises as `PoliteBrowser.render`."""
        rendering = wanted.rendering
        answer = self.browser.render(
            caller,
            RenderRequest(
                url=wanted.url,
                task=Dom(),
                wait_for=rendering.wait_for,
                wait_seconds=rendering.wait_seconds,
                left_seconds=wanted.left_seconds,
            ),
            options,
            wanted.before_redirect,
        )
        return answer if isinstance(answer, WaitUntil) else _as_response(answer.page)


def rendering_of(job: Job) -> Rendering | None:
    """Return the rendering of the job's page in a browser; None if it is only fetched."""
    stored = job.payload.get("rendering")
    return None if stored is None else read_rendering(stored)


def needs_scripts(page: FetchedPage) -> bool:
    """Return whether a response is a success with next to no text but scripts."""
    if not HTTPStatus.OK <= page.status_code < HTTPStatus.MULTIPLE_CHOICES:  # also 520, 999
        return False
    return is_shell(decode_text(page.body, page.charset), page.media_type)


def _as_response(page: FetchedPage) -> FetchedPage:
    """Drop the validators, which are of the document without its scripts.

    A browser makes HTML of plain text.
    """
    headers = {name: value for name, value in page.headers.items() if name not in _VALIDATORS}
    media_type = "text/html" if page.media_type == "text/plain" else page.media_type
    return replace(page, headers=headers, media_type=media_type)

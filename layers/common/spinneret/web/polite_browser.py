"""Pages in the browser, under their hosts' rules."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from spinneret.kernel.service import service
from spinneret.web.browser import limits
from spinneret.web.browser.models import RenderedPage, RenderRequest
from spinneret.web.browser.ports import Browser
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import Url
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.polite_fetcher import PoliteFetcher


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """A page that the browser opened."""

    output: RenderedPage
    """Output of the task, with facts of the page."""
    page: FetchedPage
    """The main document as of a fetch; its body is the output, in UTF-8 if that is text."""


@service
class PoliteBrowser:
    """Opens pages with the permits, blocks and robots.txt of fetches.

    Only main documents count as requests: one page, its redirects, and where its scripts lead.
    """

    fetcher: PoliteFetcher
    browser: Browser

    def render(
        self,
        caller: Caller,
        request: RenderRequest,
        options: FetchOptions,
        before_redirect: Callable[[Url], None] | None = None,
    ) -> Rendered | WaitUntil:
        """Return the page with any status, or the moment until which the caller must wait.

        Waits, resumes and raises like `PoliteFetcher.fetch`, without proxies, and raises what
        `Browser.render` raises. `before_redirect` is called for each document but the first.
        """
        rendering = _Rendering(self.browser, request)
        answer = self.fetcher.fetch(
            caller,
            FetchRequest(
                url=request.url,
                max_redirects=limits.RENDER_MAX_REDIRECTS,
                total_seconds=request.total_seconds,
                left_seconds=request.left_seconds,
                before_redirect=before_redirect,
            ),
            options,
            rendering.send,
        )
        if isinstance(answer, WaitUntil):
            return answer
        assert rendering.output is not None  # set with the page
        return Rendered(output=rendering.output, page=answer)


class _Rendering:
    """One rendering that the polite fetcher takes for a request."""

    def __init__(self, browser: Browser, request: RenderRequest) -> None:
        self._browser = browser
        self._request = request
        self.output: RenderedPage | None = None

    def send(self, asked: FetchRequest) -> FetchedPage:
        """Open the page at the URL at which the fetch has arrived."""
        opened: list[Url] = []

        def admit(url: Url) -> None:
            opened.append(url)
            if len(opened) > 1 and asked.before_redirect is not None:  # the first has its permit
                asked.before_redirect(url)

        request = replace(
            self._request, url=asked.url, left_seconds=asked.left_seconds, before_document=admit
        )
        output = replace(self._browser.render(request), requested=asked.requested)
        self.output = output
        return FetchedPage(
            requested=asked.requested,
            url=output.url,
            status_code=output.status_code,
            headers=output.headers,
            media_type=output.media_type,
            charset="utf-8",
            body=output.body,
            redirects=tuple(each.text for each in (*asked.left, *opened) if each != output.url),
            duration_ms=output.duration_ms,
        )

"""The browser's port."""

from typing import Protocol

from spinneret.web.browser.models import RenderedPage, RenderRequest


class Browser(Protocol):
    """Opens one page in a browser of its own, which ends with the call."""

    def render(self, request: RenderRequest) -> RenderedPage:
        """Return what the request's task took from the page, with any status code.

        Raises UrlBlocked, TooManyRedirects, ContentRefused (media type), FetchFailed with the
        reasons of `Fetcher.fetch`, PageTooLarge (bytes, requests, frames, memory, pages),
        RenderTimeout, ScriptError (the task's selector or the page's script made the task
        impossible), BrowserFailed, and DependencyUnavailable if there is no browser. Messages name
        the host of the requested URL, never one to which it led.
        """

"""Pages of an audit that are opened in a browser."""

from collections.abc import Callable

from spinneret.audits import limits
from spinneret.audits.facts.models import Lab
from spinneret.web.browser.models import Dom, LabFigures, RenderRequest
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.polite_browser import PoliteBrowser


class Opening:
    """Opens one page in the place of a fetch, and keeps its lab figures."""

    def __init__(self, browser: PoliteBrowser, left_seconds: Callable[[], float]) -> None:
        self._browser = browser
        self._left_seconds = left_seconds
        self.lab: Lab | None = None

    def send(self, caller: Caller, request: FetchRequest) -> FetchedPage | WaitUntil:
        """Return the rendered document as a response. Raises as `PoliteBrowser.render`."""
        answer = self._browser.render(
            caller,
            RenderRequest(
                url=request.url,
                task=Dom(is_measured=True),
                total_seconds=limits.REQUEST_SECONDS,
                left_seconds=self._left_seconds,
            ),
            FetchOptions(),
            request.before_redirect,
        )
        if isinstance(answer, WaitUntil):
            return answer
        figures = answer.output.figures or LabFigures()
        self.lab = Lab(
            first_contentful_paint_ms=figures.first_contentful_paint_ms,
            largest_contentful_paint_ms=figures.largest_contentful_paint_ms,
            layout_shift=figures.layout_shift,
            transferred_bytes=answer.output.transferred_bytes,
        )
        return answer.page

"""Build the polite browser, which only the functions that hold a browser package."""

from typing import Final

from spinneret.aws.stage import Stage
from spinneret.web.browser.worker_wiring import RENDERING, chromium_browser
from spinneret.web.polite_browser import PoliteBrowser
from spinneret.web.wiring import POLITE_FETCHING, polite_fetcher

POLITE_RENDERING: Final = (*POLITE_FETCHING, *RENDERING)


def polite_browser(stage: Stage) -> PoliteBrowser:
    """Return the browser of this stage, with the rules of its polite fetcher."""
    return PoliteBrowser(fetcher=polite_fetcher(stage), browser=chromium_browser(stage))

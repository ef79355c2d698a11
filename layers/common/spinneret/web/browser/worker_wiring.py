"""Build the browser, which only the function that holds one packages."""

import tempfile
from pathlib import Path
from typing import Final

from spinneret.aws.stage import Stage
from spinneret.web.browser.chromium import ChromiumBrowser
from spinneret.web.browser.wiring import BROWSER_FOLDER
from spinneret.web.fetching.resolver import resolve_by_system
from spinneret.web.fetching.wiring import ADDRESSES, USER_AGENT, address_policy

RENDERING: Final = (*ADDRESSES, USER_AGENT, BROWSER_FOLDER)


def chromium_browser(stage: Stage) -> ChromiumBrowser:
    """Return the browser of this stage, which unpacks itself below the temporary folder."""
    return ChromiumBrowser(
        folder=Path(stage[BROWSER_FOLDER]),
        scratch=Path(tempfile.gettempdir()),
        policy=address_policy(stage),
        resolver=resolve_by_system,
        user_agent=stage[USER_AGENT],
    )

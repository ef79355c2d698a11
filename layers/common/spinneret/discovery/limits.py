"""Bounds of discoveries, each with its source."""

from typing import Final

from spinneret.kernel import bounds
from spinneret.web.limits import ROBOTS_SECONDS

DISCOVERY_URLS_MAX: Final = 500  # C-07
DISCOVERY_SECONDS: Final = 600.0  # of work; then a discovery ends with its findings so far
DISCOVERY_FILE_SECONDS: Final = 60.0  # to fetch a file and read its maximum content …
DISCOVERY_FETCH_SECONDS: Final = (  # … and without the waits for the host: a redirect may lead to
    bounds.FETCH_TOTAL_SECONDS + ROBOTS_SECONDS  # … another host, whose robots.txt is read
)
DISCOVERY_URLS_PER_ROW: Final = 100  # of 2 KB each, and their scores: below the 400 KB of an item
DISCOVERY_NOTE_URL_CHARS: Final = 500  # 200 notes of failed files stay below a result's 192 KB
DISCOVERY_NOTE_CHARS: Final = 200
COMMON_CRAWL_WAIT_SECONDS: Final = 60.0  # its index is often busy; a longer wait is a failure

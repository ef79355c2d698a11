"""Bounds of notices, each with its source."""

from typing import Final

NOTICE_TITLE_MAX_CHARS: Final = 150
NOTICE_TEXT_MAX_CHARS: Final = 2000
NOTICE_UPDATES_MAX: Final = 20  # a row has at most 160 KB of 400
NOTICE_PAGES_MAX: Final = 10  # as many as a tenant has
NOTICES_SHOWN: Final = 50  # on a page and in its feed …
NOTICES_READ: Final = 500  # … of the tenant's newest ones: as many for each of its ten pages
NOTICE_RETENTION_SECONDS: Final = 400 * 24 * 3600  # after the last update, as incidents

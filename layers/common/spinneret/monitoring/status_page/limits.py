"""Bounds of status pages and metrics, each with its source."""

from typing import Final

from spinneret.monitoring.limits import DAYS_SHOWN

STATUS_PAGES_MAX: Final = 10  # of a tenant
STATUS_PAGE_TARGETS: Final = 50  # each costs a query
STATUS_PAGE_GROUPS: Final = 20
STATUS_PAGE_DAYS: Final = DAYS_SHOWN  # of bars and of ended notices
STATUS_PAGE_COUNTED: Final = 500  # public targets counted in the page's first line
STATUS_SLUG_MAX_CHARS: Final = 63  # as a label of a host's name
STATUS_TITLE_MAX_CHARS: Final = 100
METRICS_TARGETS: Final = 10_000  # read for one response
METRICS_KEPT_SECONDS: Final = 15.0  # the shortest usual interval of a scrape
METRICS_KEPT: Final = 4  # tenants whose response a process keeps: 16 MB
METRICS_BYTES: Final = 4 * 1024 * 1024  # of a response, quotes escaped; Lambda's limit is 6 MB

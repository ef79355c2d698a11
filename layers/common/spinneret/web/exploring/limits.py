"""Bounds of sitemaps, archives and the frontier, each with its source."""

from typing import Final

CRAWL_BATCH_PAGES: Final = 25  # C-06: claimed together, in one DynamoDB transaction of at most 100
CRAWL_ORDERED_BATCH_PAGES: Final = 5  # then their links are merged, and the best pages chosen
FRONTIER_URLS_MAX: Final = 50_000  # of a crawl: 1000 pages with 50 new links each; about 25 MB
FRONTIER_LINKS_PER_PAGE: Final = 5000  # the first ones in the page's order
FRONTIER_CHUNK_BYTES: Final = 300 * 1024  # of a page's links in one item of DynamoDB's 400 KB
FRONTIER_ROWS_PER_WRITE: Final = 90  # a DynamoDB transaction has 100 writes, some for other rows
TRAP_SEGMENTS_MAX: Final = 20  # of a path; Heritrix's TooManyPathSegmentsDecideRule
TRAP_REPETITIONS_MAX: Final = 2  # consecutive; Heritrix's PathologicalPathDecideRule
TRAP_PARAMETERS_MAX: Final = 20  # of a query
CALENDAR_YEARS_AHEAD: Final = 1
CALENDAR_YEARS_BACK: Final = 50
CALENDAR_URLS_MAX: Final = 100  # of one calendar: eight years by month
SITEMAP_TOKEN_MAX_BYTES: Final = 1024 * 1024  # expat rescans an unfinished token each time
SITEMAP_XML_DEPTH_MAX: Final = 32  # nested elements; a feed has about six
SITEMAP_NESTING_MAX: Final = 5  # indexes of indexes; sitemaps.org allows none
SITEMAP_FILES_MAX: Final = 200  # files read for one discovery
SITEMAP_PENDING_MAX: Final = 50_000  # files known but not read yet: one full index
CDX_LINE_MAX_BYTES: Final = 64 * 1024  # a URL and a dozen short fields

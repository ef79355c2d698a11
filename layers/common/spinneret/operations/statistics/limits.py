"""Bounds of statistics, each with its reason."""

from typing import Final

SHOWN_DAYS: Final = 30  # as long as jobs are kept
DAY_KEPT_DAYS: Final = 40  # what is shown, and a margin
HOST_KEPT_SECONDS: Final = 90 * 24 * 3600  # after the last crawl of the host
SETTLED_SECONDS: Final = 120  # no job is stored so long after its id was made, except for …
CHILDREN_MADE_SECONDS: Final = 3600  # … planned children, whose parent waits in its lane
READ: Final = 1000  # jobs of one step
UNFINISHED_MAX: Final = 3000  # their ids take 110 KB of a row, which may have 400 KB
HOSTS_PER_STEP: Final = 60  # a transaction has at most 100 rows: hosts, days, and the cursor
COUNT_SECONDS: Final = 4.0  # time of a request for counting; a later request continues
RACES: Final = 5  # counts by other requests that a request may meet
BREAKERS_AT_ONCE: Final = 8  # reads of breakers; half of a client's connections

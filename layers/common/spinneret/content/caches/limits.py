"""Bounds of caches, each with its source."""

from typing import Final

QUERY_CACHE_SECONDS: Final = 3600  # S-04
QUERY_EMBEDDING_CACHE_SECONDS: Final = 24 * 3600  # S-04
EMBEDDING_CACHE_SECONDS: Final = 7 * 24 * 3600  # C-05
STAMPEDE_LOCK_SECONDS: Final = 30.0  # S-04
CACHE_USES_HELD: Final = 25  # uses counted in the process before they are stored …
CACHE_USES_HELD_SECONDS: Final = 60  # … or a use after this time
USE_SHOWN_DAYS: Final = 30  # the period of hits and misses
USE_KEPT_DAYS: Final = 40  # retention of a day's numbers: what is shown, and a margin

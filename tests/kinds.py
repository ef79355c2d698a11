"""The kinds and lanes that the domains declare, for tests of what serves them all."""

from typing import Final

from spinneret.jobs.kinds import all_kinds, all_lanes
from spinneret.jobs.models import Lane

KINDS: Final = all_kinds()
LANES: Final = all_lanes()
CRAWL_HIGH: Final = Lane("crawl-high")
CRAWL_NORMAL: Final = Lane("crawl-normal")
CRAWL_LOW: Final = Lane("crawl-low")
DELIVERY: Final = Lane("delivery")

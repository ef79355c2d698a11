"""The kinds and lanes that the domains declare, for tests of code that serves all of them."""

from typing import Final

from spinneret.jobs.kinds import Kinds, all_kinds, all_lanes
from spinneret.jobs.models import Lane
from tests.fakes.jobs import FakeJobStore

KINDS: Final = all_kinds()
LANES: Final = all_lanes()
CRAWL_HIGH: Final = Lane("crawl-high")
CRAWL_NORMAL: Final = Lane("crawl-normal")
CRAWL_LOW: Final = Lane("crawl-low")
DELIVERY: Final = Lane("delivery")


def kinds_of(store: FakeJobStore, kinds: Kinds = KINDS) -> Kinds:
    """Return only the kinds of a store's jobs: a sweep of all kinds reads 300 partitions."""
    return {name: kind for name, kind in kinds.items() if name in store.stored_kinds()}

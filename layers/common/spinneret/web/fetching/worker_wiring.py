"""Build the guarded fetcher, which API functions don't package or load late."""

import time
from typing import Final

from spinneret.aws.stage import Stage
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.resolver import resolve_by_system
from spinneret.web.fetching.wiring import ADDRESSES, USER_AGENT, address_policy

FETCHING: Final = (*ADDRESSES, USER_AGENT)


def guarded_fetcher(stage: Stage) -> GuardedFetcher:
    """Return the guarded fetcher of this stage."""
    return GuardedFetcher(
        policy=address_policy(stage),
        resolver=resolve_by_system,
        user_agent=stage[USER_AGENT],
        monotonic=time.monotonic,
    )

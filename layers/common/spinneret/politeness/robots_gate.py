"""Which rules of robots.txt hold for an origin now: kept ones, or asked of the site (F-03)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from spinneret.fetching.models import FetchedPage, FetchRequest
from spinneret.fetching.urls import Url
from spinneret.kernel import limits
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    BodyTooLarge,
    ContentRefused,
    FetchFailed,
    FetchTimeout,
    TooManyRedirects,
    UrlBlocked,
    UrlInvalid,
)
from spinneret.politeness.ports import RobotsStore
from spinneret.politeness.robots import Robots
from spinneret.politeness.robots_policy import (
    Answer,
    Answered,
    Fetch,
    LostInRedirects,
    Reason,
    Unreachable,
    Wait,
    decide,
)

_ORIGINS: Final = 32  # whose rules a worker remembers; hostile ones take some MB each

logger = logging.getLogger(__name__)

Ask = Callable[[FetchRequest], FetchedPage]
"""Fetches from the origin's host, politely."""


@dataclass(frozen=True, kw_only=True)
class Closed:
    """The site is in trouble: nothing may be fetched before `until`."""

    until: datetime


class RobotsGate:
    """Reads robots.txt once a day for all tenants, and from the store once a day for itself."""

    def __init__(self, *, store: RobotsStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._read: dict[str, tuple[datetime, Robots | Closed]] = {}  # by origin; until when

    def rules_for(self, url: Url, ask: Ask) -> Robots | Closed:
        """The rules of the URL's origin; `ask` is called only when none are fresh.

        Raises DependencyUnavailable, and what `ask` raises besides failures of the fetch.
        """
        origin = f"{url.scheme}://{url.authority}"
        until, rules = self._read.pop(origin, (None, None))
        if until is None or rules is None or self._clock() >= until:
            until, rules = self._decided(origin, url.host, ask)
        self._read[origin] = until, rules
        if len(self._read) > _ORIGINS:
            del self._read[next(iter(self._read))]  # the one that was used longest ago
        return rules

    def _decided(self, origin: str, host: str, ask: Ask) -> tuple[datetime, Robots | Closed]:
        kept = self._store.find(origin)
        decision = decide(kept, None, self._clock())
        if isinstance(decision, Fetch):
            decision = decide(kept, _answer(f"{origin}/robots.txt", ask), self._clock())
        assert not isinstance(decision, Fetch)  # an answer decides
        if decision.keep is not None:
            self._store.keep(origin, decision.keep)
        standing = decision.keep or kept
        assert standing is not None  # nothing can be decided of nothing
        if isinstance(decision, Wait):
            return standing.check_at, Closed(until=decision.until)
        if decision.reason is Reason.UNREACHABLE:
            logger.warning(decision.reason, extra={"domain": host})
        return standing.check_at, decision.robots


def _answer(url: str, ask: Ask) -> Answer:
    request = FetchRequest(
        url=url,
        max_redirects=limits.ROBOTS_MAX_REDIRECTS,
        total_seconds=limits.ROBOTS_SECONDS,
        excerpt_bytes=limits.ROBOTS_MAX_BYTES + 1,
        excerpt_is_vital=True,  # half of a file would allow what the rest forbids
    )
    try:
        page = ask(request)
    except (TooManyRedirects, UrlBlocked, UrlInvalid):
        return LostInRedirects()
    except (BodyTooLarge, ContentRefused, FetchFailed, FetchTimeout):
        return Unreachable()
    return Answered(status_code=page.status_code, content=page.body)

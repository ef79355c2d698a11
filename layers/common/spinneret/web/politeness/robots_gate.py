"""Rules of robots.txt for an origin: stored ones, or fetched from the host (F-03)."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from spinneret.kernel import bounds
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
from spinneret.web import limits
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import Url
from spinneret.web.politeness.ports import RobotsStore
from spinneret.web.politeness.robots import Robots
from spinneret.web.politeness.robots_lease import BeingRead, RobotsLeases
from spinneret.web.politeness.robots_policy import (
    Answer,
    Answered,
    Decision,
    Fetch,
    LostInRedirects,
    RobotsReason,
    RobotsWait,
    StoredRobots,
    Unreachable,
    UseRobots,
    decide,
)

_ORIGINS: Final = 32  # maximum cached origins; hostile files take some MB each
_USUAL_PORTS: Final = frozenset({80, 443})

logger = logging.getLogger(__name__)

FetchRobots = Callable[[FetchRequest], FetchedPage]
"""Fetches the file from the origin's host, under the rules of politeness."""


@dataclass(frozen=True, kw_only=True)
class Closed:
    """The host fails: no page may be fetched before `until`."""

    until: datetime


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Rules of robots.txt for one URL, and for the pace."""

    allowed: bool
    crawl_delay: float
    """Seconds; 0 if the file has none."""
    sitemaps: tuple[str, ...] = ()
    """Absolute URLs that the file names."""


@dataclass(frozen=True, kw_only=True)
class _Read:
    """Known rules of an origin, and their end of validity."""

    rules: Robots | Closed | None
    """None if no fresh copy exists."""
    until: datetime


class RobotsGate:
    """Fetches robots.txt once a day for all tenants, and reads the store once a day per process."""

    def __init__(self, *, store: RobotsStore, product_token: str, clock: Clock) -> None:
        self._store = store
        self._product_token = product_token
        self._clock = clock
        self._read: OrderedDict[str, _Read] = OrderedDict()  # by origin, least recently used first
        self._reading = Lock()

    def rules_for(
        self, url: Url, fetch: FetchRobots, leases: RobotsLeases, gap_seconds: float
    ) -> Rules | Closed | BeingRead:
        """Return the rules of the URL's origin; `fetch` is called only when none are fresh.

        Of all workers, only the holder of the host's lease calls it; the others retry.

        `gap_seconds` is the caller's own time between two requests: fetched rules stay valid at
        least until the request after the next one. Raises DependencyUnavailable, and what `fetch`
        raises except failures of the fetch. DomainBlocked is raised: all tenants share the file,
        but not the block of a host that it redirects to.
        """
        read = self._remembered(url.origin)
        if read is None or read.rules is None:
            decided = self._decided(url, fetch, leases, gap_seconds)
            if isinstance(decided, BeingRead):
                return decided
            read = self._remember(url.origin, decided)
        if isinstance(read.rules, Closed):
            return read.rules
        assert read.rules is not None  # it was decided
        return Rules(
            allowed=read.rules.allows(url.text, self._product_token),
            crawl_delay=self._delay_at(url),
            sitemaps=read.rules.sitemaps,
        )

    def _delay_at(self, url: Url) -> float:
        """Return the longest crawl-delay of the host's origins, whose requests share one pace.

        A host that redirects from http to https declares it after the redirect.
        """
        known = [self._remembered(origin) or self._looked_up(origin) for origin in _siblings(url)]
        delays = [
            each.rules.crawl_delay(self._product_token)
            for each in known
            if isinstance(each.rules, Robots)
        ]
        return max((delay for delay in delays if delay), default=0.0)

    def _remembered(self, origin: str) -> _Read | None:
        with self._reading:
            read = self._read.get(origin)
            if read is None or self._clock() >= read.until:
                return None
            self._read.move_to_end(origin)
            return read

    def _remember(self, origin: str, read: _Read) -> _Read:
        with self._reading:
            self._read[origin] = read
            self._read.move_to_end(origin)
            if len(self._read) > _ORIGINS:
                self._read.popitem(last=False)
            return read

    def _looked_up(self, origin: str) -> _Read:
        """Return the stored copy of another origin, without fetching."""
        kept = self._store.find(origin)
        decision = decide(kept, None, self._clock())
        if isinstance(decision, UseRobots) and kept is not None:
            return self._remember(origin, _Read(rules=decision.robots, until=kept.check_at))
        again = self._clock() + timedelta(seconds=limits.ROBOTS_DISALLOW_SECONDS)
        return self._remember(origin, _Read(rules=None, until=again))

    def _decided(
        self, url: Url, fetch: FetchRobots, leases: RobotsLeases, gap_seconds: float
    ) -> _Read | BeingRead:
        kept = self._store.find(url.origin)
        decision = decide(kept, None, self._clock())
        if not isinstance(decision, Fetch):
            return self._kept(url, kept, decision, gap_seconds)
        lease = leases.acquire(url)
        if isinstance(lease, BeingRead):
            return lease
        try:
            kept = self._store.find(url.origin)  # the former holder may have stored it meanwhile
            decision = decide(kept, None, self._clock())
            if isinstance(decision, Fetch):
                decision = decide(kept, _answer(robots_url(url), fetch), self._clock())
            return self._kept(url, kept, decision, gap_seconds)
        finally:
            leases.release(lease)

    def _kept(
        self, url: Url, kept: StoredRobots | None, decision: Decision, gap_seconds: float
    ) -> _Read:
        """Store the file if it is new; return its rules."""
        assert not isinstance(decision, Fetch)  # an answer decides
        standing = kept
        if decision.keep is not None:
            standing = self._until_the_page_is_fetched(decision, decision.keep, gap_seconds)
            self._store.keep(url.origin, standing)
        assert standing is not None  # every decision needs a stored or a new copy
        if isinstance(decision, RobotsWait):
            return _Read(rules=Closed(until=decision.until), until=standing.check_at)
        if decision.reason is RobotsReason.UNREACHABLE:
            logger.warning(decision.reason, extra={"domain": url.host})
        elif decision.reason is RobotsReason.FALLBACK:
            logger.info(decision.reason, extra={"domain": url.host})
        return _Read(rules=decision.robots, until=standing.check_at)

    def _until_the_page_is_fetched(
        self, decision: UseRobots | RobotsWait, keep: StoredRobots, gap_seconds: float
    ) -> StoredRobots:
        """Keep the file until the next page is fetched.

        If requests are rarer than checks of the file, each permit would be used for another check.
        """
        if isinstance(decision, RobotsWait):
            return keep
        gap = max(gap_seconds, decision.robots.crawl_delay(self._product_token) or 0.0)
        interval = timedelta(seconds=2 * min(gap, limits.DOMAIN_GAP_MAX_SECONDS))
        return replace(keep, check_at=max(keep.check_at, self._clock() + interval))


def _siblings(url: Url) -> list[str]:
    """Return the default origins of one host, the URL's own first."""
    if url.port not in _USUAL_PORTS or ":" in url.host:
        return [url.origin]
    plain = url.host.removeprefix("www.")
    others = [f"{scheme}://{www}{plain}" for scheme in ("https", "http") for www in ("", "www.")]
    return [url.origin, *(origin for origin in others if origin != url.origin)]


def robots_url(url: Url) -> Url:
    """Return the URL of the robots.txt for a URL (RFC 9309, section 2.3)."""
    return replace(url, path="/robots.txt", query="")


def _answer(url: Url, fetch: FetchRobots) -> Answer:
    content = bytearray()

    def read_body(_: Url, pieces: Iterator[bytes]) -> None:
        for piece in pieces:
            content.extend(piece)
            if len(content) > bounds.ROBOTS_MAX_BYTES:
                break

    request = FetchRequest(
        url=url,
        max_redirects=bounds.ROBOTS_MAX_REDIRECTS,
        total_seconds=limits.ROBOTS_SECONDS,
        # Only a 2xx is read, and must be read whole: half a file allows what the rest forbids.
        read_body=read_body,
    )
    try:
        page = fetch(request)
    except (TooManyRedirects, UrlBlocked, UrlInvalid):
        return LostInRedirects()
    except (BodyTooLarge, ContentRefused, FetchFailed, FetchTimeout):
        return Unreachable()
    return Answered(status_code=page.status_code, content=bytes(content))

"""The face of the web group: a page under its host's rules, or when to come back for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.web.fetch_session import FetchDependencies, FetchSession
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import Url
from spinneret.web.hosts.service import HostService
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.permits import CallerPermits, FetchDeferred, PermitServices
from spinneret.web.politeness.robots_gate import RobotsGate
from spinneret.web.politeness.service import HostRateLimiter
from spinneret.web.ports import ProgressStore, RoutedFetcher

_DEFAULTS: Final = FetchOptions()


class PoliteFetcher:
    """Asks every host for a permit before a request, and reports the answer to it."""

    def __init__(
        self,
        *,
        fetcher: RoutedFetcher,
        hosts: HostService,
        pace: HostRateLimiter,
        robots: RobotsGate,
        progress: ProgressStore,
        clock: Clock,
        sleep: Callable[[float], None],
    ) -> None:
        """`sleep` is called for waits of at most SHORT_WAIT_SECONDS."""
        self._fetcher = fetcher
        self._progress = progress
        self._clock = clock
        self._office = PermitServices(
            hosts=hosts, pace=pace, robots=robots, clock=clock, sleep=sleep
        )

    def fetch(
        self, caller: Caller, request: FetchRequest, options: FetchOptions = _DEFAULTS
    ) -> FetchedPage | WaitUntil:
        """The page whatever its status, or until when the caller has to wait.

        A wait isn't slept: the caller comes back with `WaitUntil.waiting_for` as its reservation,
        and goes on where it stopped, so that no redirect is asked for again. A 304 is the answer to
        a request with validators. Raises what `Fetcher.fetch` raises, ProxyFailed, FeatureDisabled
        and SecretUnreadable (proxies), DomainBlocked, RobotsDisallowed and DependencyUnavailable.
        """
        route = self._fetcher.choose(caller.tenant, options.proxy_config_id)
        try:
            return FetchSession(self._parts(caller, options), route=route).fetch(request)
        except FetchDeferred as postponed:
            return postponed.wait

    def sitemaps(self, caller: Caller, url: Url) -> tuple[str, ...] | WaitUntil:
        """The sitemaps that the robots.txt of a URL's origin names, which is fetched if need be.

        Waits as `fetch`. Raises DomainBlocked and DependencyUnavailable.
        """
        try:
            return FetchSession(self._parts(caller, _DEFAULTS)).sitemaps(url)
        except FetchDeferred as postponed:
            return postponed.wait

    def _parts(self, caller: Caller, options: FetchOptions) -> FetchDependencies:
        return FetchDependencies(
            caller=caller,
            permits=CallerPermits(self._office, caller, options),
            fetcher=self._fetcher,
            progress=self._progress,
            clock=self._clock,
        )

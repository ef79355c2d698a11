"""Entry point of the web group: returns a page under its host's rules, or when to retry."""

from collections.abc import Callable
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.service import service
from spinneret.web.fetch_session import FetchDependencies, FetchSession, Send
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import Url
from spinneret.web.hosts.service import HostService
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.permits import CallerPermits, FetchDeferred, PermitServices
from spinneret.web.politeness.robots_gate import RobotsGate
from spinneret.web.politeness.service import HostRateLimiter
from spinneret.web.ports import ProgressStore, RoutedFetcher

_DEFAULTS: Final = FetchOptions()


@service
class PoliteFetcher:
    """Takes a permit from the host's rules before each request, and reports the response to it."""

    fetcher: RoutedFetcher
    hosts: HostService
    pace: HostRateLimiter
    robots: RobotsGate
    progress: ProgressStore
    clock: Clock
    sleep: Callable[[float], None]
    """Called for waits of at most SHORT_WAIT_SECONDS."""

    def __post_init__(self) -> None:
        self._services = PermitServices(
            hosts=self.hosts, pace=self.pace, robots=self.robots, clock=self.clock, sleep=self.sleep
        )

    def fetch(
        self,
        caller: Caller,
        request: FetchRequest,
        options: FetchOptions = _DEFAULTS,
        send: Send | None = None,
    ) -> FetchedPage | WaitUntil:
        """Return the page with any status, or the moment until which the caller must wait.

        The fetcher doesn't sleep through a wait: the caller retries with `WaitUntil.waiting_for` as
        its reservation. The retry resumes where the fetch stopped and repeats no redirect. A
        request with validators may return a 304. Raises what `Fetcher.fetch` raises, ProxyFailed,
        FeatureDisabled and SecretUnreadable (proxies), DomainBlocked, RobotsDisallowed and
        DependencyUnavailable.

        With `send`, that function gets the page instead of the fetcher, and without proxies.
        """
        route = None if send else self.fetcher.choose(caller.tenant, options.proxy_config_id)
        parts = self._parts(caller, options)
        try:
            return FetchSession(parts, route=route, send=send).fetch(request)
        except FetchDeferred as postponed:
            return postponed.wait

    def sitemaps(self, caller: Caller, url: Url) -> tuple[str, ...] | WaitUntil:
        """Return the sitemaps in the robots.txt of a URL's origin; fetch robots.txt if needed.

        Waits like `fetch`. Raises DomainBlocked and DependencyUnavailable.
        """
        try:
            return FetchSession(self._parts(caller, _DEFAULTS)).sitemaps(url)
        except FetchDeferred as postponed:
            return postponed.wait

    def _parts(self, caller: Caller, options: FetchOptions) -> FetchDependencies:
        return FetchDependencies(
            caller=caller,
            permits=CallerPermits(services=self._services, caller=caller, options=options),
            fetcher=self.fetcher,
            progress=self.progress,
            clock=self.clock,
        )

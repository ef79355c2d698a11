"""The polite fetcher over its fakes, as a caller without jobs uses it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from spinneret.kernel.errors import DomainError
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import parse_url
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.robots_gate import RobotsGate
from spinneret.web.politeness.robots_lease import RobotsLeases
from tests.fakes.fetching import FakeFetcher
from tests.fakes.politeness import FakeProgressStore, FakeRobotsStore
from tests.fakes.proxies import Proxies
from tests.fakes.time import HandClock

DEFAULTS = FetchOptions()


class PoliteWorld:
    """Polite fetching over fakes, which are the attributes.

    The default `sleep` does nothing, so each wait is returned to the caller.
    """

    def __init__(self, clock: HandClock) -> None:
        self.clock = clock
        self.pages: dict[str, FetchedPage | DomainError] = {}
        self.proxies = Proxies(clock, self.pages)
        self.hosts = self.proxies.hosts
        self.robots = FakeRobotsStore()
        self.progress = FakeProgressStore()
        self.hops: list[str] = []
        """Every requested URL, including robots.txt and redirects."""
        self.on_request: Callable[[str], None] = lambda _: None
        self.sleep: Callable[[float], None] = lambda _: None
        pace = self.hosts.pace
        self.leases = RobotsLeases(ledger=pace.ledger, clock=clock, new_token=pace.new_token)

    def fetch(
        self, caller: Caller, url: str, options: FetchOptions = DEFAULTS, **request: Any
    ) -> FetchedPage | WaitUntil:
        """Try once to fetch, as a new process; return the page or the wait."""
        direct = FakeFetcher(self.pages)
        direct.on_request = self.on_request
        try:
            polite = self.fetcher(direct)
            return polite.fetch(caller, FetchRequest(url=parse_url(url), **request), options)
        finally:
            self.hops += direct.hops

    def fetcher(self, direct: FakeFetcher | None = None) -> PoliteFetcher:
        """Return the polite fetcher of a new process."""
        return PoliteFetcher(
            fetcher=self.proxies.fetcher(direct or FakeFetcher(self.pages)),
            hosts=self.hosts.service,
            pace=self.hosts.pace,
            robots=RobotsGate(store=self.robots, product_token="Spinneret", clock=self.clock),
            progress=self.progress,
            clock=self.clock,
            sleep=self.sleep,
        )

    def page(self, caller: Caller, url: str, options: FetchOptions = DEFAULTS) -> FetchedPage:
        """Return the page of a try that doesn't have to wait."""
        answer = self.fetch(caller, url, options)
        assert isinstance(answer, FetchedPage), answer
        return answer

    def wait(self, caller: Caller, url: str, options: FetchOptions = DEFAULTS) -> WaitUntil:
        """Return the wait of a try that has to wait."""
        answer = self.fetch(caller, url, options)
        assert isinstance(answer, WaitUntil), answer
        return answer

    def come_back(self, caller: Caller, wait: WaitUntil) -> Caller:
        """Let the time of the wait pass; return the caller of the next try."""
        self.clock.now = max(self.clock.now, wait.until)
        return replace(caller, reservation=wait.waiting_for)

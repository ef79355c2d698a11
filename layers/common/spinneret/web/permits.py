"""Permits of one caller: blocks, robots.txt, pace and breaker before every request (C-02)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import FetchFailed, RobotsDisallowed
from spinneret.kernel.service import service
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.rules import parse_retry_after
from spinneret.web.fetching.urls import Url
from spinneret.web.hosts.service import HostService
from spinneret.web.limits import (
    DOMAIN_GAP_MAX_SECONDS,
    ROBOTS_RETRY_SECONDS,
    ROBOTS_WAIT_SECONDS,
    ROBOTS_WAITS,
    SHORT_WAIT_SECONDS,
)
from spinneret.web.models import Caller, FetchOptions, Purpose, WaitUntil
from spinneret.web.politeness.models import HostOutcome, PaceLimits, Permit, Wait, WaitReason
from spinneret.web.politeness.robots_gate import Closed, FetchRobots, RobotsGate, Rules
from spinneret.web.politeness.robots_lease import RobotsLeases
from spinneret.web.politeness.rules import host_key
from spinneret.web.politeness.service import HostRateLimiter

_ROBOTS_FAIL: Final = "its robots.txt answers with an error (5xx or 429)"
_REFUSALS: Final = {
    WaitReason.RETRY_AFTER: "it asks to wait (Retry-After)",
    WaitReason.CIRCUIT_OPEN: "its last requests failed",
}
_SHORT_WAITS: Final = 3  # waits within one fetch before it is postponed


class FetchDeferred(Exception):
    """Raised inside the polite fetcher when a fetch must wait."""

    def __init__(self, wait: WaitUntil) -> None:
        super().__init__(f"waits for {wait.waiting_for}")
        self.wait = wait


@dataclass(frozen=True, kw_only=True)
class PermitServices:
    """Services that all permit checks share."""

    hosts: HostService
    pace: HostRateLimiter
    robots: RobotsGate
    clock: Clock
    sleep: Callable[[float], None]

    @property
    def leases(self) -> RobotsLeases:
        """Leases of robots.txt files, in the rows of the hosts' pace."""
        pace = self.pace
        return RobotsLeases(ledger=pace.ledger, clock=self.clock, new_token=pace.new_token)


@service
class CallerPermits:
    """Rules of hosts, applied to one caller. All methods raise DependencyUnavailable."""

    services: PermitServices
    caller: Caller
    options: FetchOptions

    def own_pace(self, url: Url) -> PaceLimits:
        """Return this caller's pace at the host, without robots.txt. Raises DomainBlocked."""
        effective = self.services.hosts.recent(self.caller.tenant, url.host)
        self.services.hosts.require_unblocked(effective)
        rate = self.options.requests_per_second
        pace = effective.pace
        return pace if rate is None else replace(pace, rate=min(rate, pace.rate))

    def pace_for(self, url: Url, fetch_robots: FetchRobots) -> PaceLimits:
        """Return the pace for a page. Raises DomainBlocked, RobotsDisallowed and FetchDeferred.

        For a link, also raises FetchFailed.

        `fetch_robots` is called when no fresh robots.txt is stored.
        """
        own = self.own_pace(url)
        if self.caller.purpose is Purpose.CHECK or not self.options.obey_robots:
            return own
        if self.caller.purpose is Purpose.LINK:
            rules = self._rules_once(url, fetch_robots, own)
        else:
            rules = self._rules(url, fetch_robots, own)
        if not rules.allowed:
            raise RobotsDisallowed(f"robots.txt of {url.host} forbids this page")
        if not rules.crawl_delay:
            return own
        return replace(own, min_gap_seconds=min(rules.crawl_delay, DOMAIN_GAP_MAX_SECONDS))

    def sitemaps(self, url: Url, fetch_robots: FetchRobots) -> tuple[str, ...]:
        """Return the sitemaps in robots.txt. Raises DomainBlocked and FetchDeferred."""
        return self._rules(url, fetch_robots, self.own_pace(url)).sitemaps

    def _rules(self, url: Url, fetch_robots: FetchRobots, own: PaceLimits) -> Rules:
        gap = own.interval_ms / 1000
        for _ in range(ROBOTS_WAITS):
            rules = self.services.robots.rules_for(url, fetch_robots, self.services.leases, gap)
            if isinstance(rules, Rules):
                return rules
            if isinstance(rules, Closed):
                wait = _wait_for_robots(url.host, rules.until)
                raise FetchDeferred(replace(wait, refusal=_ROBOTS_FAIL))
            self.services.sleep(ROBOTS_WAIT_SECONDS)
        soon = self.services.clock() + timedelta(seconds=ROBOTS_RETRY_SECONDS)
        raise FetchDeferred(_wait_for_robots(url.host, soon))

    def _rules_once(self, url: Url, fetch_robots: FetchRobots, own: PaceLimits) -> Rules:
        """Return the rules; raise the error of a robots.txt whose host can't be reached."""
        failures: list[FetchFailed] = []

        def fetch(request: FetchRequest) -> FetchedPage:
            try:
                return fetch_robots(request)
            except FetchFailed as failure:
                failures.append(failure)
                raise

        rules = self._rules(url, fetch, own)
        for failure in failures:
            if failure.is_of_host:
                raise failure
        return rules

    def take(self, url: Url, limits: PaceLimits) -> Permit:
        """Take a permit for one request; sleep through short waits, else raise Postponed."""
        reserved = self.caller.reservation == host_key(url.host)
        waits = 0
        while True:
            answer = self.services.pace.admit(
                url.host,
                port=url.unusual_port,
                owner=self.caller.id,
                limits=limits,
                reserved=reserved,
                is_check=not self.caller.purpose.is_crawl,
            )
            if isinstance(answer, Permit):
                return answer
            seconds = (answer.until - self.services.clock()).total_seconds()
            waits += 1
            if seconds > SHORT_WAIT_SECONDS or waits > _SHORT_WAITS:
                raise FetchDeferred(_wait_until(url.host, answer))
            reserved = answer.reserved
            self.services.sleep(max(0.0, seconds))

    def report(self, permit: Permit, outcome: HostOutcome, retry_after: float | None) -> None:
        """End a permit. A check reports only Retry-After (seconds).

        Retry-After of a check's 5xx stops crawls but not the next check, since checks must observe
        outages.
        """
        cools_checks = True
        if not self.caller.purpose.is_crawl:
            cools_checks, outcome = outcome is not HostOutcome.HOST_FAILURE, HostOutcome.NOT_TRIED
        self.services.pace.report(
            permit, outcome, retry_after=retry_after, cools_checks=cools_checks
        )

    def retry_after(self, page: FetchedPage) -> float | None:
        """Return the pause that the host requests, in seconds (RFC 9110, section 10.2.3).

        Only 429 and 5xx responses count; elsewhere the header has other meanings.
        """
        if page.status_code < 500 and page.status_code != 429:
            return None
        return parse_retry_after(page.headers.get("retry-after", ""), self.services.clock())


def _wait_until(host: str, wait: Wait) -> WaitUntil:
    name = host_key(host)
    waiting_for = name if wait.reserved else f"{name}: {wait.reason}"
    refusal = _REFUSALS.get(wait.reason, "")
    return WaitUntil(until=wait.until, waiting_for=waiting_for, refusal=refusal)


def _wait_for_robots(host: str, until: datetime) -> WaitUntil:
    return WaitUntil(until=until, waiting_for=f"{host}: robots.txt")

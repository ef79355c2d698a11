"""Fetching as a guest: block list, robots.txt, pace and breaker before every request (C-02)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from spinneret.jobs.worker import Context, Defer
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    BodyTooLarge,
    ContentRefused,
    FetchFailed,
    FetchTimeout,
    ProxyFailed,
    RobotsDisallowed,
    TooManyRedirects,
)
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.rules import parse_retry_after
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.hosts.service import HostService
from spinneret.web.politeness.models import Outcome, PaceLimits, Permit, Wait
from spinneret.web.politeness.robots_gate import Closed, RobotsGate
from spinneret.web.politeness.rules import host_key, slowest
from spinneret.web.politeness.service import Pace
from spinneret.web.proxies.models import Route
from spinneret.web.proxies.rotation import RotatingFetcher

_SHORT_WAITS: Final = 3  # that a worker sits through before it gives the job back


class Visits:
    """Asks every host for leave, and tells it what came of it."""

    def __init__(
        self,
        *,
        fetcher: RotatingFetcher,
        hosts: HostService,
        pace: Pace,
        robots: RobotsGate,
        clock: Clock,
        sleep: Callable[[float], None],
    ) -> None:
        self._fetcher = fetcher
        self._hosts = hosts
        self._pace = pace
        self._robots = robots
        self._clock = clock
        self._sleep = sleep

    def fetch(
        self, context: Context, request: FetchRequest, proxy_config_id: str | None = None
    ) -> FetchedPage:
        """The page behind the URL, by way of the tenant's proxies if it names any.

        Raises what the fetcher and its rotation raise, DomainBlocked, RobotsDisallowed, and
        Defer when a host isn't to be asked yet.
        """
        route = self._fetcher.choose(context.job.tenant, proxy_config_id)
        return _Visit(self, context, route=route).fetch(request)

    def own_pace(self, context: Context, url: Url) -> PaceLimits:
        """How fast the tenant may ask the host; raises DomainBlocked."""
        site = self._hosts.effective(context.job.tenant, url.host)
        self._hosts.require_unblocked(site)
        return site.pace

    def pace_of(self, context: Context, url: Url, visit: _Visit) -> PaceLimits:
        """How fast the page may be asked for; raises DomainBlocked, RobotsDisallowed, Defer."""
        own = self.own_pace(context, url)
        rules = self._robots.rules_for(
            url, lambda request: visit.ask(request, own), own.interval_ms / 1000
        )
        if isinstance(rules, Closed):
            raise Defer(rules.until, f"{url.host}: robots.txt")
        if not rules.allowed:
            raise RobotsDisallowed(f"robots.txt of {url.host} forbids this page")
        if not rules.crawl_delay:
            return own
        gap = min(rules.crawl_delay, bounds.DOMAIN_GAP_MAX_SECONDS)
        return replace(own, min_gap_seconds=gap)

    def admit(self, context: Context, url: Url, pace: PaceLimits) -> Permit:
        """Leave for one request; sits short waits out and raises Defer for others."""
        reserved = context.job.waiting_for == host_key(url.host)
        waits = 0
        while True:
            answer = self._pace.admit(
                url.host,
                port=url.unusual_port,
                owner=context.lease.owner,
                limits=pace,
                reserved=reserved,
            )
            if isinstance(answer, Permit):
                return answer
            seconds = (answer.until - self._clock()).total_seconds()
            waits += 1
            if seconds > bounds.SHORT_WAIT_SECONDS or waits > _SHORT_WAITS:
                raise Defer(answer.until, _waiting_for(url.host, answer))
            reserved = answer.reserved
            self._sleep(max(0.0, seconds))

    def send(self, route: Route | None, request: FetchRequest) -> FetchedPage:
        """Without asking anybody."""
        return self._fetcher.fetch(route, request)

    def wish_of(self, page: FetchedPage) -> float | None:
        """For how long the site asks to be left alone: what RFC 9110, 10.2.3 has Retry-After for.

        A page that is served says nothing of it, whatever its header does.
        """
        if page.status_code < 500 and page.status_code != 429:
            return None
        return parse_retry_after(page.headers.get("retry-after", ""), self._clock())

    def report(self, admitted: Permit, outcome: Outcome, wish: float | None) -> None:
        """What a turn says of the site."""
        self._pace.report(admitted, outcome, retry_after=wish)


class _Visit:
    """One fetch with its redirects: one turn at a time at one site, each of them reported."""

    def __init__(
        self,
        visits: Visits,
        context: Context,
        *,
        route: Route | None = None,
        within: Permit | None = None,
    ) -> None:
        self._visits = visits
        self._context = context
        self._route = route
        self._within = within
        """The turn of an outer visit."""
        self._admitted: Permit | None = None
        self._pace: PaceLimits | None = None
        self._port: int | None = None
        """Where the visit is, as `Url.unusual_port`."""
        self._heard = Outcome.NOT_TRIED
        self._wish: float | None = None

    def fetch(self, request: FetchRequest) -> FetchedPage:
        url = parse_url(request.url)
        self._enter(url, self._visits.pace_of(self._context, url, self))
        return self._send(replace(request, before_redirect=self._follow))

    def ask(self, request: FetchRequest, pace: PaceLimits) -> FetchedPage:
        """A request beside the visit's own, for robots.txt.

        Where the visit is already, it belongs to the visit's turn: one of its own would come only
        after the visit's end. It goes directly, as its answer is shared by all tenants.
        """
        beside = _Visit(self._visits, self._context, within=self._admitted)
        beside._enter(parse_url(request.url), pace)
        try:
            return beside._send(replace(request, before_redirect=beside._follow_unruled))
        finally:
            self._hear(beside._heard, beside._wish)  # nothing, after a turn of its own

    @property
    def _site(self) -> str | None:
        return None if self._admitted is None else self._admitted.host

    def _enter(self, url: Url, pace: PaceLimits) -> None:
        if self._within is None or host_key(url.host) != self._within.host:
            self._admitted = self._visits.admit(self._context, url, pace)
            self._pace = pace
        self._port = url.unusual_port

    def _follow(self, url: Url) -> None:
        """A redirect within a site belongs to the request that led to it.

        Unless the site asks for more patience there: then it takes a turn of that pace first, for
        which the job may have to come back, once.
        """
        self._hear(Outcome.SUCCESS, None)
        pace = self._visits.pace_of(self._context, url, self)
        slower = self._pace != slowest(pace, self._pace or pace)
        if host_key(url.host) != self._site or (
            slower and self._context.job.waiting_for != self._site
        ):
            self._leave()
            self._enter(url, pace)
        self._port = url.unusual_port

    def _follow_unruled(self, url: Url) -> None:
        """robots.txt may lead elsewhere, where no other robots.txt is asked for first."""
        self._hear(Outcome.SUCCESS, None)
        pace = self._visits.own_pace(self._context, url)
        if host_key(url.host) != self._site:
            self._leave()
            self._enter(url, pace)
        self._port = url.unusual_port

    def _send(self, request: FetchRequest) -> FetchedPage:
        try:
            page = self._visits.send(self._route, request)
            self._hear(_outcome(page.status_code), self._visits.wish_of(page))
        except BaseException as error:
            self._hear(_outcome_of(error), None)
            raise
        finally:
            self._leave()
        return page

    def _hear(self, outcome: Outcome, wish: float | None) -> None:
        """The worst of what a turn says of the site is what is reported.

        Nothing that came by a proxy counts: it is the tenant's and can say what it likes, while
        the pace is shared by all tenants. Nor does what a redirect leads to at another port of the
        host: each unusual port answers for itself.
        """
        turn = self._admitted or self._within
        if self._route is not None or (turn is not None and self._port != turn.port):
            return
        self._heard = max(self._heard, outcome, key=_SEVERITY.index)
        self._wish = max((each for each in (self._wish, wish) if each is not None), default=None)

    def _leave(self) -> None:
        admitted, self._admitted = self._admitted, None
        if admitted is not None:
            self._visits.report(admitted, self._heard, self._wish)
            self._heard, self._wish = Outcome.NOT_TRIED, None


_SEVERITY: Final = (
    Outcome.NOT_TRIED,
    Outcome.SUCCESS,
    Outcome.CLIENT_ERROR,
    Outcome.HOST_FAILURE,
)


def _outcome(status: int) -> Outcome:
    if status >= 500:
        return Outcome.HOST_FAILURE
    return Outcome.CLIENT_ERROR if status >= 400 else Outcome.SUCCESS


def _outcome_of(error: BaseException) -> Outcome:
    match error:
        case ProxyFailed():
            return Outcome.NOT_TRIED
        case FetchTimeout() | FetchFailed():
            return Outcome.HOST_FAILURE
        case TooManyRedirects() | ContentRefused() | BodyTooLarge():
            return Outcome.SUCCESS
        case _:
            return Outcome.NOT_TRIED


def _waiting_for(host: str, wait: Wait) -> str:
    """The site alone says that a turn was reserved."""
    site = host_key(host)
    return site if wait.reserved else f"{site}: {wait.reason}"

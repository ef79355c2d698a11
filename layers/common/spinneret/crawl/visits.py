"""Fetching as a guest: block list, robots.txt, pace and breaker before every request (C-02)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from spinneret.fetching.models import FetchedPage, FetchRequest
from spinneret.fetching.ports import Fetcher
from spinneret.fetching.rules import parse_retry_after
from spinneret.fetching.urls import Url, parse_url
from spinneret.jobs.worker import Context, Postpone
from spinneret.kernel import limits
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
from spinneret.politeness.models import Admitted, Outcome, PaceLimits, Wait
from spinneret.politeness.robots_gate import Closed, RobotsGate
from spinneret.politeness.rules import site_of, slowest
from spinneret.politeness.service import Pace
from spinneret.sites.service import SiteSettings

_SHORT_WAITS: Final = 3  # that a worker sits through before it gives the job back


class Visits:
    """Asks every host for leave, and tells it what came of it."""

    def __init__(
        self,
        *,
        fetcher: Fetcher,
        sites: SiteSettings,
        pace: Pace,
        robots: RobotsGate,
        product_token: str,
        clock: Clock,
        sleep: Callable[[float], None],
    ) -> None:
        self._fetcher = fetcher
        self._sites = sites
        self._pace = pace
        self._robots = robots
        self._product_token = product_token
        self._clock = clock
        self._sleep = sleep

    def fetch(self, context: Context, request: FetchRequest) -> FetchedPage:
        """The page behind the URL. Raises what the fetcher raises, DomainBlocked,
        RobotsDisallowed, and Postpone when a host isn't to be asked yet."""
        visit = _Visit(self, context)
        return visit.fetch(request)

    def pace_of(self, context: Context, url: Url, visit: _Visit) -> PaceLimits:
        """How fast the host may be asked; raises DomainBlocked and RobotsDisallowed."""
        site = self._sites.site(context.job.tenant, url.host)
        self._sites.require_unblocked(site)
        rules = self._robots.rules_for(url, lambda request: visit.ask(request, site.pace))
        if isinstance(rules, Closed):
            raise Postpone(rules.until, f"{url.host}: robots.txt")
        if not rules.allows(url.text, self._product_token):
            raise RobotsDisallowed(f"robots.txt of {url.host} forbids this page")
        delay = rules.crawl_delay(self._product_token)
        if not delay:
            return site.pace
        gap = min(delay, limits.DOMAIN_GAP_MAX_SECONDS)
        return slowest(site.pace, PaceLimits(min_gap_seconds=gap))

    def admit(self, context: Context, host: str, pace: PaceLimits) -> Admitted:
        """Leave for one request; sits short waits out and raises Postpone for others."""
        promised = context.job.waiting_for == site_of(host)
        waits = 0
        while True:
            answer = self._pace.admit(
                host, owner=context.lease.owner, limits=pace, promised=promised
            )
            if isinstance(answer, Admitted):
                return answer
            seconds = (answer.until - self._clock()).total_seconds()
            waits += 1
            if seconds > limits.SHORT_WAIT_SECONDS or waits > _SHORT_WAITS:
                raise Postpone(answer.until, _waiting_for(host, answer))
            promised = answer.promised
            self._sleep(max(0.0, seconds))

    def send(self, request: FetchRequest) -> FetchedPage:
        """Without asking anybody."""
        return self._fetcher.fetch(request)

    def report(self, admitted: Admitted, page: FetchedPage) -> None:
        """What an answer says of the site."""
        wish = parse_retry_after(page.headers.get("retry-after", ""), self._clock())
        self._pace.report(admitted, _outcome(page.status_code), retry_after=wish)

    def report_error(self, admitted: Admitted, outcome: Outcome) -> None:
        """What a request without an answer says of the site."""
        self._pace.report(admitted, outcome)


class _Visit:
    """One fetch with its redirects: one admission at a time, each of them reported."""

    def __init__(self, visits: Visits, context: Context) -> None:
        self._visits = visits
        self._context = context
        self._admitted: Admitted | None = None

    def fetch(self, request: FetchRequest) -> FetchedPage:
        url = parse_url(request.url)
        self._enter(url, self._visits.pace_of(self._context, url, self))
        return self._send(replace(request, before_redirect=self._follow))

    def ask(self, request: FetchRequest, pace: PaceLimits) -> FetchedPage:
        """A request beside the visit's own, such as for robots.txt; its redirects are free.

        To the host that the visit is at, it belongs to the visit: a turn of its own would come
        only after the visit's end (robots.txt of https, when http leads there).
        """
        if self._is_at(parse_url(request.url)):
            return self._visits.send(request)
        visit = _Visit(self._visits, self._context)
        visit._enter(parse_url(request.url), pace)
        return visit._send(request)

    def _enter(self, url: Url, pace: PaceLimits) -> None:
        self._admitted = self._visits.admit(self._context, url.host, pace)

    def _follow(self, url: Url) -> None:
        """A redirect on the same host belongs to the request that led to it."""
        pace = self._visits.pace_of(self._context, url, self)
        if not self._is_at(url):
            self._leave(Outcome.SUCCESS)
            self._enter(url, pace)

    def _is_at(self, url: Url) -> bool:
        return self._admitted is not None and site_of(url.host) == self._admitted.host

    def _leave(self, outcome: Outcome) -> None:
        admitted, self._admitted = self._admitted, None
        if admitted is not None:
            self._visits.report_error(admitted, outcome)

    def _send(self, request: FetchRequest) -> FetchedPage:
        try:
            page = self._visits.send(request)
        except BaseException as error:
            self._leave(_outcome_of(error))
            raise
        admitted, self._admitted = self._admitted, None
        assert admitted is not None  # nobody else takes it
        self._visits.report(admitted, page)
        return page


def _outcome(status: int) -> Outcome:
    if status >= 500:
        return Outcome.SITE_FAILURE
    return Outcome.CLIENT_ERROR if status >= 400 else Outcome.SUCCESS


def _outcome_of(error: BaseException) -> Outcome:
    match error:
        case ProxyFailed():
            return Outcome.NOT_TRIED
        case FetchTimeout() | FetchFailed():
            return Outcome.SITE_FAILURE
        case TooManyRedirects() | ContentRefused() | BodyTooLarge():
            return Outcome.SUCCESS
        case _:
            return Outcome.NOT_TRIED


def _waiting_for(host: str, wait: Wait) -> str:
    """The site alone says that a turn was promised."""
    site = site_of(host)
    return site if wait.promised else f"{site}: {wait.reason}"

"""One fetch with its redirects: one permit at a time, each of them reported."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    BodyTooLarge,
    CallerDeadlineExceeded,
    ContentRefused,
    DependencyUnavailable,
    FetchFailed,
    FetchTimeout,
    ProxyFailed,
    TooManyRedirects,
)
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import Url
from spinneret.web.models import Caller, Progress
from spinneret.web.permits import CallerPermits, FetchDeferred
from spinneret.web.politeness.models import Outcome, PaceLimits, Permit
from spinneret.web.politeness.rules import host_key, slowest
from spinneret.web.ports import ProgressStore, RoutedFetcher
from spinneret.web.proxies.models import Route

logger = logging.getLogger(__name__)

PaceFor = Callable[[Url], PaceLimits]


@dataclass(frozen=True, kw_only=True)
class FetchDependencies:
    """What every session of one caller uses."""

    caller: Caller
    permits: CallerPermits
    fetcher: RoutedFetcher
    progress: ProgressStore
    clock: Clock


class FetchSession:
    """One fetch, or the fetch of a robots.txt beside it.

    A fetch that has to wait behind a redirect keeps how far it came, and the next try begins there:
    a caller has one reservation, and would lose it at the host that redirects.
    """

    def __init__(
        self, parts: FetchDependencies, *, route: Route | None = None, within: Permit | None = None
    ) -> None:
        """`within` is the permit of the session that this one stands beside."""
        self._parts = parts
        self._route = route
        self._within = within
        self._permit: Permit | None = None
        self._pace: PaceLimits | None = None
        self._port: int | None = None
        """The port of the present URL, as `Url.unusual_port`."""
        self._outcome = Outcome.NOT_TRIED
        self._retry_after: float | None = None

    def fetch(self, request: FetchRequest) -> FetchedPage:
        """Raises what the fetcher raises, DomainBlocked, RobotsDisallowed and Postponed."""
        return self._run(request, self._pace_with_robots)

    def sitemaps(self, url: Url) -> tuple[str, ...]:
        """What the robots.txt of the URL's origin names. Raises DomainBlocked and FetchDeferred."""
        return self._parts.permits.sitemaps(url, self._fetch_robots)

    def _pace_with_robots(self, url: Url) -> PaceLimits:
        return self._parts.permits.pace_for(url, self._fetch_robots)

    def _fetch_robots(self, request: FetchRequest) -> FetchedPage:
        """A request beside the session's own.

        At the session's present host it belongs to the session's permit: one of its own would come
        only after the session's end. It goes directly, as its answer is shared by all tenants, and
        obeys no other robots.txt where it is redirected.
        """
        beside = FetchSession(self._parts, within=self._permit)
        try:
            return beside._run(request, self._parts.permits.own_pace)
        finally:
            self._note(beside._outcome, beside._retry_after)  # nothing, if it had its own permit

    def _run(self, request: FetchRequest, pace_for: PaceFor) -> FetchedPage:
        progress = self._found(request)
        if progress is not None:
            request = replace(request, left=progress.left, url=progress.url)
        urls = [*request.left, request.url]

        gate = request.before_redirect

        def follow(url: Url) -> None:
            if gate is not None:
                gate(url)
            urls.append(url)
            self._follow(url, pace_for)

        try:
            pace = pace_for(request.url)
            if request.left_seconds is not None:
                request.left_seconds()  # before a place at the host is taken in vain
            self._enter(request.url, pace)
            page = self._send(replace(request, before_redirect=follow))
        except FetchDeferred:
            if len(urls) > len(request.left) + 1:
                kept = Progress(left=tuple(urls[:-1]), url=urls[-1])
                self._parts.progress.keep(self._parts.caller, kept, self._parts.clock())
            raise
        except BaseException:
            self._drop(progress)
            raise
        self._drop(progress)
        return page

    def _found(self, request: FetchRequest) -> Progress | None:
        """Only a caller that had to wait can have any."""
        if self._parts.caller.reservation is None:
            return None
        return self._parts.progress.find(self._parts.caller, request.url, self._parts.clock())

    def _drop(self, progress: Progress | None) -> None:
        """The next try of this fetch begins anew. What stays after an outage expires."""
        if progress is None:
            return
        try:
            self._parts.progress.drop(self._parts.caller, progress.left[0])
        except DependencyUnavailable as error:
            logger.warning("fetch.progress.kept", extra={"reason": error.message})

    # ------------------------------------------------------------ Permits

    def _enter(self, url: Url, pace: PaceLimits) -> None:
        if self._within is None or host_key(url.host) != self._within.host:
            self._permit = self._parts.permits.take(url, pace)
            self._pace = pace
        self._port = url.unusual_port

    def _follow(self, url: Url, pace_for: PaceFor) -> None:
        """A redirect within a host belongs to the permit of the request that led to it.

        Unless the host asks for a slower pace there: then it takes a permit of that pace first.
        """
        self._note(Outcome.SUCCESS, None)
        pace = pace_for(url)
        elsewhere = self._permit is None or host_key(url.host) != self._permit.host
        slower = self._pace is not None and slowest(pace, self._pace) != self._pace
        if elsewhere or slower:
            self._leave()
            self._enter(url, pace)
        self._port = url.unusual_port

    def _send(self, request: FetchRequest) -> FetchedPage:
        try:
            page = self._parts.fetcher.fetch(self._route, request)
            self._note(_outcome(page.status_code), self._parts.permits.retry_after(page))
        except BaseException as error:
            self._note(_outcome_of(error), None)
            raise
        finally:
            self._leave()
        return page

    def _note(self, outcome: Outcome, retry_after: float | None) -> None:
        """Keep the worst of what the present permit's answers say of the host, for its report.

        Nothing that came through a proxy counts: it is the tenant's and can answer anything, while
        pace and breaker are shared by all tenants. Nor does what a redirect leads to at another
        port of the host: each unusual port has its own health.
        """
        permit = self._permit or self._within
        if self._route is not None or (permit is not None and self._port != permit.port):
            return
        self._outcome = max(self._outcome, outcome, key=_SEVERITY.index)
        given = (each for each in (self._retry_after, retry_after) if each is not None)
        self._retry_after = max(given, default=None)

    def _leave(self) -> None:
        permit, self._permit = self._permit, None
        if permit is not None:
            self._parts.permits.report(permit, self._outcome, self._retry_after)
            self._outcome, self._retry_after = Outcome.NOT_TRIED, None


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
        case ProxyFailed() | CallerDeadlineExceeded():
            return Outcome.NOT_TRIED
        case FetchTimeout() | FetchFailed():
            return Outcome.HOST_FAILURE
        case TooManyRedirects() | ContentRefused() | BodyTooLarge():
            return Outcome.SUCCESS
        case _:
            return Outcome.NOT_TRIED

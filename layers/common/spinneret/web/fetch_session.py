"""One fetch with its redirects: it holds one permit at a time and reports each of them."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    BodyTooLarge,
    CallerDeadlineExceeded,
    ContentRefused,
    DependencyUnavailable,
    FetchFailed,
    FetchTimeout,
    PageTooLarge,
    ProxyFailed,
    ScriptError,
    TooManyRedirects,
)
from spinneret.web import limits
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import Url
from spinneret.web.models import Caller, RedirectProgress
from spinneret.web.permits import CallerPermits, FetchDeferred
from spinneret.web.politeness.models import HostOutcome, PaceLimits, Permit
from spinneret.web.politeness.rules import host_key, slowest
from spinneret.web.ports import ProgressStore, RoutedFetcher
from spinneret.web.proxies.models import Route

logger = logging.getLogger(__name__)

PaceFor = Callable[[Url], PaceLimits]
Send = Callable[[FetchRequest], FetchedPage]
"""Sends a request like `Fetcher.fetch`, such as by a browser; raises what that raises."""


@dataclass(frozen=True, kw_only=True)
class FetchDependencies:
    """Dependencies of all sessions of one caller."""

    caller: Caller
    permits: CallerPermits
    fetcher: RoutedFetcher
    progress: ProgressStore
    clock: Clock


class FetchSession:
    """One fetch, or the fetch of a robots.txt during another session.

    A fetch that must wait after a redirect stores its progress, and the next attempt resumes there.
    A caller has one reservation, which it would lose at the redirecting host.
    """

    def __init__(
        self,
        parts: FetchDependencies,
        *,
        route: Route | None = None,
        within: Permit | None = None,
        send: Send | None = None,
    ) -> None:
        """`within` is the permit of the enclosing session.

        `send` sends the page's request instead of the fetcher, which still gets robots.txt.
        """
        self._parts = parts
        self._route = route
        self._sender = send or partial(parts.fetcher.fetch, route)
        self._within = within
        self._permit: Permit | None = None
        self._pace: PaceLimits | None = None
        self._port: int | None = None
        """Port of the current URL; see `Url.unusual_port`."""
        self._outcome = HostOutcome.NOT_TRIED
        self._retry_after: float | None = None
        self._began = self._entered = parts.clock()

    def fetch(self, request: FetchRequest) -> FetchedPage:
        """Fetch the page.

        Raises what the fetcher raises, DomainBlocked, RobotsDisallowed and Postponed.
        """
        return self._run(request, self._pace_with_robots)

    def sitemaps(self, url: Url) -> tuple[str, ...]:
        """Return the sitemaps in the robots.txt of the URL's origin.

        Raises DomainBlocked and FetchDeferred.
        """
        return self._parts.permits.sitemaps(url, self._fetch_robots)

    def _pace_with_robots(self, url: Url) -> PaceLimits:
        return self._parts.permits.pace_for(url, self._fetch_robots)

    def _fetch_robots(self, request: FetchRequest) -> FetchedPage:
        """Fetch a robots.txt within this session.

        At the session's current host the request uses the session's permit, since a permit of its
        own would only be free after the session. It uses no proxy, because all tenants share the
        result. After a redirect it obeys no other robots.txt.
        """
        beside = FetchSession(self._parts, within=self._permit)
        try:
            return beside._run(request, self._parts.permits.own_pace)
        finally:
            self._note(beside._outcome, beside._retry_after)  # no effect if it had its own permit

    def _run(self, request: FetchRequest, pace_for: PaceFor) -> FetchedPage:
        progress = self._found(request)
        if progress is not None:
            request = replace(request, left=progress.left, url=progress.url)
        urls = [*request.left, request.url]

        gate = request.before_redirect

        def follow(url: Url) -> None:
            urls.append(url)
            if gate is not None:
                gate(url)
            self._follow(url, pace_for)

        try:
            if gate is not None and progress is not None:
                for url in urls[1:]:
                    gate(url)
            pace = pace_for(request.url)
            if request.left_seconds is not None:
                request.left_seconds()  # before it uses up a slot at the host
            self._enter(request.url, pace)
            page = self._send(replace(request, before_redirect=follow))
        except FetchDeferred:
            if len(urls) > len(request.left) + 1:
                kept = RedirectProgress(left=tuple(urls[:-1]), url=urls[-1])
                self._parts.progress.keep(self._parts.caller, kept, self._parts.clock())
            raise
        except BaseException:
            self._drop(progress)
            raise
        self._drop(progress)
        return page

    def _found(self, request: FetchRequest) -> RedirectProgress | None:
        """Return the stored progress; only a caller that had to wait can have any."""
        if self._parts.caller.reservation is None:
            return None
        return self._parts.progress.find(self._parts.caller, request.url, self._parts.clock())

    def _drop(self, progress: RedirectProgress | None) -> None:
        """Drop the progress, so that the next attempt starts over; after an outage it expires."""
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
        """Reuse the permit for a redirect within the host.

        If the host requires a slower pace there, a new permit of that pace is taken first.
        """
        self._note(HostOutcome.SUCCESS, None)
        pace = pace_for(url)
        elsewhere = self._permit is None or host_key(url.host) != self._permit.host
        slower = self._pace is not None and slowest(pace, self._pace) != self._pace
        if elsewhere or slower:
            self._leave()
            self._enter(url, pace)
            self._entered = self._parts.clock()
        self._port = url.unusual_port

    def _send(self, request: FetchRequest) -> FetchedPage:
        self._began = self._entered = self._parts.clock()
        try:
            page = self._sender(request)
            self._note(_outcome(page.status_code), self._parts.permits.retry_after(page))
        except BaseException as error:
            self._note(_outcome_of(error, self._given(request)), None)
            raise
        finally:
            self._leave()
        return page

    def _given(self, request: FetchRequest) -> float:
        """Return the seconds that the request left to the current host."""
        spent = (self._entered - self._began).total_seconds()
        return min(request.total_seconds - spent, request.read_seconds)

    def _note(self, outcome: HostOutcome, retry_after: float | None) -> None:
        """Keep the worst outcome and longest pause of the current permit, for its report.

        Responses through a proxy don't count: a tenant's proxy can return anything, and all tenants
        share pace and breaker. Responses from another port of the host don't count either, since
        each unusual port has its own health.
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
            self._outcome, self._retry_after = HostOutcome.NOT_TRIED, None


_SEVERITY: Final = (
    HostOutcome.NOT_TRIED,
    HostOutcome.SUCCESS,
    HostOutcome.CLIENT_ERROR,
    HostOutcome.HOST_FAILURE,
)


def _outcome(status: int) -> HostOutcome:
    if status >= 500:
        return HostOutcome.HOST_FAILURE
    return HostOutcome.CLIENT_ERROR if status >= 400 else HostOutcome.SUCCESS


def _outcome_of(error: BaseException, given_seconds: float) -> HostOutcome:
    """Return the outcome for the current host, which had this time to answer."""
    match error:
        case ProxyFailed() | CallerDeadlineExceeded():
            return HostOutcome.NOT_TRIED
        case FetchTimeout() if given_seconds < limits.HOST_TIMEOUT_SECONDS:
            return HostOutcome.NOT_TRIED  # of a tenant's config, or behind a slow redirect
        case FetchTimeout() | FetchFailed():
            return HostOutcome.HOST_FAILURE
        case TooManyRedirects() | ContentRefused() | BodyTooLarge():
            return HostOutcome.SUCCESS
        case PageTooLarge() | ScriptError():  # of a browser that has the document
            return HostOutcome.SUCCESS
        case _:
            return HostOutcome.NOT_TRIED

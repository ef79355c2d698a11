"""Client of the marketplaces' APIs: every call uses it.

It applies the seller's rate limit and token, and sends through the guarded fetcher. Requests go
only to hosts that the stage's configuration names.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.jobs.worker import Defer, ReleaseJob
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.errors import (
    FetchFailed,
    FetchTimeout,
    MarketplaceUnavailable,
    ReauthNeeded,
)
from spinneret.kernel.service import service
from spinneret.marketplace import limits
from spinneret.marketplace.calls.models import MarketAnswer, MarketRequest
from spinneret.marketplace.calls.ports import SellerRateLimiter, TokenProvider
from spinneret.marketplace.connections.models import AccessToken, OAuthApp
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.fetching.rules import parse_retry_after
from spinneret.web.fetching.urls import parse_url

logger = logging.getLogger(__name__)

_HOLD_SECONDS: Final = 60.0  # after a 429 without a usable Retry-After
_DAY_HOLD_SECONDS: Final = 3600.0  # Etsy's day budget is a sliding window: retry after this
LATER: Final = frozenset({408, 425, 429})
"""Statuses that aren't refusals: the same request may succeed later."""

Hosts = Mapping[str, str]
"""Name of a marketplace's host → its origin, such as `ebay.api` → `https://api.ebay.com`."""


@service
class MarketplaceTransport:
    """Send one request without rate limit or token. Connections use this for their own requests."""

    fetcher: Fetcher
    hosts: Hosts

    def send(self, request: MarketRequest, seconds: float) -> MarketAnswer:
        """Return the response, with any status. Raises MarketplaceUnavailable if there is none:
        whether the marketplace acted is then unknown."""
        fetched = FetchRequest(
            url=parse_url(self.hosts[request.host] + request.target),
            method=request.method,
            body=request.body,
            headers={"Accept": "application/json", **request.headers},
            follow_redirects=False,
            excerpt_bytes=limits.MARKETPLACE_ANSWER_BYTES,
            excerpt_is_vital=True,
            total_seconds=seconds,
            read_seconds=seconds,
        )
        try:
            page = self.fetcher.fetch(fetched)
        except (FetchTimeout, FetchFailed) as error:
            raise MarketplaceUnavailable(error.message, details=error.details) from error
        return MarketAnswer(status=page.status_code, headers=page.headers, body=page.body)


@service
class SellerApiClient:
    """Calls of one seller to one marketplace, during one claim."""

    transport: MarketplaceTransport
    rate_limiter: SellerRateLimiter
    tokens: TokenProvider
    sign: Callable[[AccessToken], Mapping[str, str]]
    tenant: str
    marketplace: str
    remaining: Remaining
    clock: Clock
    sleep: Callable[[float], None]
    begun: datetime | None = None
    """Start of the job that makes these calls. Holds that the marketplace names are waited for
    until JOB_PENDING_SECONDS after it."""
    over: Defer | None = None
    """Exception that every call except a GET raises, for a job whose time has expired."""

    def __post_init__(self) -> None:
        self._access: AccessToken | None = None
        self._application: AccessToken | None = None

    @property
    def access(self) -> AccessToken:
        """Token and account of the connection. Raises ReauthNeeded."""
        if self._access is None:
            self._access = self.tokens.access(self.tenant, self.marketplace)
        return self._access

    def remember(self, settings: Mapping[str, Any], account: str | None = None) -> None:
        """Store facts found about the account: settings, and its id. Raises ReauthNeeded."""
        self.tokens.remember(self.tenant, self.marketplace, settings, account)

    def send(self, request: MarketRequest) -> MarketAnswer:
        """Send a request and return its response, unless that asks to retry or rejects the token.

        Raises ReleaseJob if the invocation has too little time, and Defer for the seller's rate
        limit and a 429. Raises MarketplaceUnavailable for a 408, a 425, a 5xx, no response, or a
        refused application token. Raises ReauthNeeded if the seller's token is refused even after a
        refresh.
        """
        answer = self._sent(request)
        if answer.status == 401 and (request.authorised or request.as_application):
            self._renew(request)
            answer = self._sent(request)
            if answer.status == 401 and request.as_application:
                raise MarketplaceUnavailable(f"{self.marketplace} refuses the application's token")
            if answer.status == 401:
                raise ReauthNeeded(f"{self.marketplace} refuses the token: connect again")
        if answer.status == 429:
            raise self._held(answer)
        if answer.status >= 500 or answer.status in LATER:
            raise MarketplaceUnavailable(
                f"{self.marketplace} answered {answer.status}",
                details={"status": answer.status},
                retry_after=_asked(answer, self.clock()),
            )
        self._obey(answer)
        return answer

    def _sent(self, request: MarketRequest) -> MarketAnswer:
        if self.over is not None and request.method != "GET":
            raise self.over
        self._require_time()
        self._wait()
        signed = replace(request, headers={**request.headers, **self._signature(request)})
        self._require_time()  # the wait or a new token took some, or this process was stopped
        answer = self.transport.send(signed, limits.MARKETPLACE_CALL_SECONDS)
        facts = {"marketplace": self.marketplace, "status": answer.status}
        logger.info("marketplace_called", extra={**facts, "path": request.path})
        return answer

    def _require_time(self) -> None:
        """Raise ReleaseJob if a call may outlast the invocation, and so the claim."""
        left = self.remaining() - bounds.DEADLINE_MARGIN_SECONDS
        if left < limits.MARKETPLACE_CALL_SECONDS:
            raise ReleaseJob

    def _signature(self, request: MarketRequest) -> Mapping[str, str]:
        if request.as_application:
            if self._application is None:
                self._application = self.tokens.application(self.marketplace)
            return self.sign(self._application)
        return self.sign(self.access) if request.authorised else {}

    def _renew(self, request: MarketRequest) -> None:
        """Replace the request's token, which was refused."""
        if request.as_application:
            self._application = self.tokens.application(self.marketplace, self._application)
        else:
            self._access = self.tokens.refresh(self.tenant, self.marketplace, self.access)

    def _wait(self) -> None:
        """Wait until the seller's next call is allowed. Raises Defer if that exceeds
        MARKETPLACE_WAIT_SECONDS."""
        now = self.clock()
        at = self.rate_limiter.take(self.tenant, self.marketplace, now)
        while at > now:
            if at - now > timedelta(seconds=limits.MARKETPLACE_WAIT_SECONDS):
                raise self._deferral(at)  # only a marketplace's hold lasts so long
            self.sleep((at - now).total_seconds())
            now = max(self.clock(), at)
            at = self.rate_limiter.take(self.tenant, self.marketplace, now)

    def _held(self, answer: MarketAnswer) -> Defer:
        until = self.clock() + asked_wait(answer, self.clock())
        self.rate_limiter.hold(self.tenant, self.marketplace, until)
        return self._deferral(until)

    def _deferral(self, until: datetime) -> Defer:
        """Return the Defer for a wait until `until`.

        A wait longer than _HOLD_SECONDS was named by the marketplace. It counts as appointed, since
        the budget is certain to return then. A wait beyond the job's pending time is named as the
        reason with which the job expires. Short waits count as any other wait, even if they repeat.
        """
        reason, now = f"the limits of {self.marketplace}", self.clock()
        begun = self.begun or now
        if until > begun + timedelta(seconds=bounds.JOB_PENDING_SECONDS):
            return Defer(until, f"{reason}, until {until:%Y-%m-%d %H:%M} UTC")
        return Defer(until, reason, appointed=until - now > timedelta(seconds=_HOLD_SECONDS))

    def _obey(self, answer: MarketAnswer) -> None:
        """Hold the next call if the response reports an exhausted budget."""
        if answer.headers.get("x-remaining-today") == "0":
            seconds = _DAY_HOLD_SECONDS
        elif answer.headers.get("x-remaining-this-second") == "0":
            seconds = 1.0
        else:
            return
        until = self.clock() + timedelta(seconds=seconds)
        self.rate_limiter.hold(self.tenant, self.marketplace, until)


@service
class SellerApiClients:
    """Makes the clients of single sellers."""

    transport: MarketplaceTransport
    rate_limiter: SellerRateLimiter
    tokens: TokenProvider
    apps: Mapping[str, OAuthApp]
    """OAuth configurations; requests to other marketplaces aren't signed."""
    clock: Clock
    sleep: Callable[[float], None]

    def client(
        self,
        tenant: str,
        marketplace: str,
        remaining: Remaining,
        begun: datetime | None = None,
        over: Defer | None = None,
    ) -> SellerApiClient:
        """Return a client; see SellerApiClient."""
        app = self.apps.get(marketplace)
        return SellerApiClient(
            transport=self.transport,
            rate_limiter=self.rate_limiter,
            tokens=self.tokens,
            sign=_unsigned if app is None else app.sign,
            tenant=tenant,
            marketplace=marketplace,
            remaining=remaining,
            clock=self.clock,
            sleep=self.sleep,
            begun=begun,
            over=over,
        )


def _unsigned(_: AccessToken) -> Mapping[str, str]:
    return {}


def asked_wait(answer: MarketAnswer, now: datetime) -> timedelta:
    """Return how long to wait after a 429. A Retry-After of 0 doesn't count, since the next call
    would be refused, too."""
    is_spent = answer.headers.get("x-remaining-today") == "0"
    usual = _DAY_HOLD_SECONDS if is_spent else _HOLD_SECONDS
    return timedelta(seconds=_asked(answer, now) or usual)


def _asked(answer: MarketAnswer, now: datetime) -> float | None:
    """Return the response's Retry-After in seconds, at most MARKETPLACE_HOLD_SECONDS, or None."""
    said = answer.headers.get("retry-after", "")
    return parse_retry_after(said, now, limits.MARKETPLACE_HOLD_SECONDS)

"""The one way to a marketplace's API: at the seller's pace, with its token, through the guarded
fetcher, to hosts that the stage's configuration fixes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from spinneret.jobs.worker import Defer, ReleaseJob
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.errors import (
    FetchFailed,
    FetchTimeout,
    MarketplaceUnavailable,
    ReauthNeeded,
)
from spinneret.marketplace.calls.models import MarketAnswer, MarketRequest
from spinneret.marketplace.calls.ports import SellerRateLimiter, TokenProvider
from spinneret.marketplace.connections.models import AccessToken
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.fetching.rules import parse_retry_after
from spinneret.web.fetching.urls import parse_url

logger = logging.getLogger(__name__)

_HOLD_SECONDS: Final = 60.0  # after a 429 that names no time
_DAY_HOLD_SECONDS: Final = 3600.0  # a spent day budget is a sliding window (Etsy): ask again then
LATER: Final = frozenset({408, 425, 429})
"""Statuses that are no refusal: the same request may be taken later."""

Hosts = Mapping[str, str]
"""Name of a marketplace's host → its origin, such as `ebay.api` → `https://api.ebay.com`."""


class MarketplaceTransport:
    """Sends single requests: no pace, no token. Connections use it for theirs."""

    def __init__(self, fetcher: Fetcher, hosts: Hosts) -> None:
        self._fetcher = fetcher
        self._hosts = hosts

    def send(self, request: MarketRequest, seconds: float) -> MarketAnswer:
        """The answer of any status. Raises MarketplaceUnavailable when there was none: whether the
        marketplace acted is unknown then."""
        return self._fetch(
            FetchRequest(
                url=parse_url(self._hosts[request.host] + request.target),
                method=request.method,
                body=request.body,
                headers={"Accept": "application/json", **request.headers},
                follow_redirects=False,
                excerpt_bytes=bounds.MARKETPLACE_ANSWER_BYTES,
                excerpt_is_vital=True,
                total_seconds=seconds,
                read_seconds=seconds,
            )
        )

    def _fetch(self, request: FetchRequest) -> MarketAnswer:
        try:
            page = self._fetcher.fetch(request)
        except (FetchTimeout, FetchFailed) as error:
            raise MarketplaceUnavailable(error.message, details=error.details) from error
        return MarketAnswer(status=page.status_code, headers=page.headers, body=page.body)


class SellerApiClient:
    """Calls of one seller at one marketplace, during one claim."""

    def __init__(
        self,
        *,
        door: MarketplaceTransport,
        pace: SellerRateLimiter,
        access: TokenProvider,
        sign: Callable[[AccessToken], Mapping[str, str]],
        tenant: str,
        marketplace: str,
        remaining: Remaining,
        clock: Clock,
        sleep: Callable[[float], None],
        begun: datetime | None = None,
        over: Defer | None = None,
    ) -> None:
        """`begun`: when the job began that these calls are for. It waits out the times that the
        marketplace names, until JOB_PENDING_SECONDS after that. `over`: what a call raises that
        doesn't only read, for a job whose time is over."""
        self._door = door
        self._pace = pace
        self._source = access
        self._sign = sign
        self._tenant = tenant
        self._marketplace = marketplace
        self._remaining = remaining
        self._clock = clock
        self._sleep = sleep
        self._begun = begun
        self._over = over
        self._access: AccessToken | None = None
        self._application: AccessToken | None = None

    @property
    def access(self) -> AccessToken:
        """The connection's token and account. Raises ReauthNeeded."""
        if self._access is None:
            self._access = self._source.access(self._tenant, self._marketplace)
        return self._access

    def send(self, request: MarketRequest) -> MarketAnswer:
        """The answer, unless it says "later" or "not you".

        Raises ReleaseJob when the invocation has no time for it, Defer for the seller's pace and a
        429, MarketplaceUnavailable for a 5xx or no answer, and ReauthNeeded for a token that stays
        refused after a refresh.
        """
        answer = self._sent(request)
        if answer.status == 401 and (request.authorised or request.as_application):
            self._renew(request)
            answer = self._sent(request)
            if answer.status == 401 and request.as_application:
                raise MarketplaceUnavailable(f"{self._marketplace} refuses the application's token")
            if answer.status == 401:
                raise ReauthNeeded(f"{self._marketplace} refuses the token: connect again")
        if answer.status == 429:
            raise self._held(answer)
        if answer.status >= 500 or answer.status in LATER:
            raise MarketplaceUnavailable(
                f"{self._marketplace} answered {answer.status}",
                details={"status": answer.status},
                retry_after=self._asked(answer),
            )
        self._obey(answer)
        return answer

    def _sent(self, request: MarketRequest) -> MarketAnswer:
        if self._over is not None and request.method != "GET":
            raise self._over
        left = self._remaining() - bounds.DEADLINE_MARGIN_SECONDS
        if left < bounds.MARKETPLACE_CALL_SECONDS:
            raise ReleaseJob
        self._wait()
        headers = self._signature(request)
        signed = MarketRequest(
            host=request.host,
            method=request.method,
            path=request.path,
            query=request.query,
            headers={**request.headers, **headers},
            body=request.body,
        )
        answer = self._door.send(signed, bounds.MARKETPLACE_CALL_SECONDS)
        facts = {"marketplace": self._marketplace, "status": answer.status}
        logger.info("marketplace_called", extra={**facts, "path": request.path})
        return answer

    def _signature(self, request: MarketRequest) -> Mapping[str, str]:
        if request.as_application:
            if self._application is None:
                self._application = self._source.application(self._marketplace)
            return self._sign(self._application)
        return self._sign(self.access) if request.authorised else {}

    def _renew(self, request: MarketRequest) -> None:
        """The token of the request was refused."""
        if request.as_application:
            self._application = self._source.application(self._marketplace, self._application)
        else:
            self._access = self._source.refresh(self._tenant, self._marketplace, self.access)

    def _wait(self) -> None:
        """Until the seller's next call may go; raises Defer for a longer wait."""
        now = self._clock()
        at = self._pace.take(self._tenant, self._marketplace, now)
        while at > now:
            if at - now > timedelta(seconds=bounds.MARKETPLACE_WAIT_SECONDS):
                raise self._deferral(at)  # an answer asked for it: the pace is never so far ahead
            self._sleep((at - now).total_seconds())
            now = max(self._clock(), at)
            at = self._pace.take(self._tenant, self._marketplace, now)

    def _held(self, answer: MarketAnswer) -> Defer:
        asked = self._asked(answer)
        if asked is None and answer.headers.get("x-remaining-today") == "0":
            asked = _DAY_HOLD_SECONDS
        wait = timedelta(seconds=_HOLD_SECONDS if asked is None else asked)
        until = self._clock() + wait
        self._pace.hold(self._tenant, self._marketplace, until)
        return self._deferral(until)

    def _asked(self, answer: MarketAnswer) -> float | None:
        """The answer's Retry-After in seconds."""
        said = answer.headers.get("retry-after", "")
        return parse_retry_after(said, self._clock(), bounds.MARKETPLACE_HOLD_SECONDS)

    def _deferral(self, until: datetime) -> Defer:
        """A longer time than our own guess was named by the marketplace, and is waited out: its
        budget comes back then. One that is too late for the job is told as the reason when it
        expires. Short ones that come again and again count as any other wait."""
        limits, now = f"the limits of {self._marketplace}", self._clock()
        begun = self._begun or now
        if until > begun + timedelta(seconds=bounds.JOB_PENDING_SECONDS):
            return Defer(until, f"{limits}, until {until:%Y-%m-%d %H:%M} UTC")
        return Defer(until, limits, appointed=until - now > timedelta(seconds=_HOLD_SECONDS))

    def _obey(self, answer: MarketAnswer) -> None:
        """An answer that says there is nothing left holds the next call."""
        if answer.headers.get("x-remaining-today") == "0":
            until = self._clock() + timedelta(seconds=_DAY_HOLD_SECONDS)
            self._pace.hold(self._tenant, self._marketplace, until)
        elif answer.headers.get("x-remaining-this-second") == "0":
            until = self._clock() + timedelta(seconds=1)
            self._pace.hold(self._tenant, self._marketplace, until)

"""Requests of one check: its tries under one permit, with a GET where the site refuses HEAD."""

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Final, Protocol

from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import FetchFailed, FetchTimeout
from spinneret.kernel.service import service
from spinneret.monitoring import limits
from spinneret.monitoring.checks import rules
from spinneret.web.fetching.models import Certificate, FetchedPage, FetchRequest
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.proxies.models import Route

PAUSES: Final = (*limits.CHECK_RETRIES, None)
"""Seconds after each failed try; None after the last one."""
_IDEMPOTENT: Final = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
"""Methods that may be repeated (RFC 9110, section 9.2.2)."""
_GET_SECONDS: Final = 0.1  # a shorter timeout isn't worth a request


class HostBusy(Exception):
    """Raised when no request is possible now.

    Another check uses the host, a redirect's host requires too long a wait, or time is up.
    """

    def __init__(self, host: str | None = None) -> None:
        super().__init__(host)
        self.host = host
        """Host of the redirect; None if time is up."""


class CheckSlots(Protocol):
    """Slots of one running check."""

    def require_room(self, seconds: float) -> None:
        """Raise HostBusy if a request of that many seconds could outlast the slots."""

    def enter(self, url: Url) -> None:
        """Acquire the slot of the host that a redirect leads to. Raises HostBusy if another check
        uses it."""


@service
class CheckFetcher:
    """Implements RoutedFetcher for one check, always without a proxy.

    A retry resumes at the redirect where the previous try stopped, since the permits of earlier
    hosts were returned. So one permit covers all tries at a host.
    """

    fetcher: Fetcher
    timeout: float
    slots: CheckSlots
    clock: Clock
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]

    def __post_init__(self) -> None:
        self._refuses_head = False
        self.tries = 0
        self.began_at: float | None = None
        """Monotonic time when the last try began; None before the first try."""
        self.is_resumed = False
        """Whether the check resumes at a redirect's host for which an earlier tick had to wait."""
        self._certificates: list[Certificate] = []
        self._waited = 0.0
        """Seconds that the last try waited for hosts of redirects."""

    @property
    def latency_ms(self) -> int:
        """Milliseconds since the last try began, without its waits; 0 without a try."""
        return round(1000 * self._spent)

    @property
    def _spent(self) -> float:
        if self.began_at is None:
            return 0.0
        return self.monotonic() - self.began_at - self._waited

    def choose(self, tenant: str, config_id: str | None) -> Route | None:  # noqa: ARG002 (directly)
        return None

    def fetch(self, route: Route | None, request: FetchRequest) -> FetchedPage:  # noqa: ARG002 (directly)
        """See RoutedFetcher; the page carries the certificate, of all hops, that expires first.

        Raises HostBusy.
        """
        self.is_resumed = bool(request.left)
        hops = [*request.left, request.url]

        def follow(target: Url) -> None:
            asked_at = self.monotonic()
            self.slots.enter(target)
            if request.before_redirect is not None:
                request.before_redirect(target)
            hops.append(target)
            self._waited += self.monotonic() - asked_at
            if self._waited > bounds.REDIRECT_WAITS_SECONDS:
                raise HostBusy(target.host)

        for pause in PAUSES if request.method in _IDEMPOTENT else (None,):
            at = replace(
                request,
                left=tuple(hops[:-1]),
                url=hops[-1],
                before_redirect=follow,
                saw_certificate=self._certificates.append,
            )
            try:
                page = self._try(at)
            except (FetchTimeout, FetchFailed) as error:
                if pause is None or rules.is_final(error):
                    raise
            else:
                if pause is None or not rules.is_worth_retrying(page, self.clock()):
                    first = min(self._certificates, key=attrgetter("not_after"), default=None)
                    return replace(page, certificate=first)
            self.sleep(pause)
        raise AssertionError("the last try ends the loop")

    def _try(self, request: FetchRequest) -> FetchedPage:
        self.slots.require_room(self.timeout)
        self.tries += 1
        self.began_at, self._waited = self.monotonic(), 0.0
        if self._refuses_head:
            request = replace(request, method="GET")
        page = self.fetcher.fetch(replace(request, total_seconds=self.timeout))
        if request.method == "HEAD" and page.status_code in rules.WITHOUT_HEAD:
            self._refuses_head = True
            # The HEAD already followed the redirects; the GET gets the rest of the try's time.
            seconds = self.timeout - self._spent
            left = (*request.left, *_hops(page, request))
            again = replace(
                request,
                method="GET",
                left=left,
                url=page.url,
                total_seconds=max(seconds, _GET_SECONDS),
            )
            page = self.fetcher.fetch(again)
        return page


def _hops(page: FetchedPage, request: FetchRequest) -> tuple[Url, ...]:
    """Return the URLs that redirected this request, in order."""
    return tuple(map(parse_url, page.redirects[len(request.left) :]))

"""The guarded fetcher: one request, its redirects, and a bounded body.

It uses httpcore, the connection layer under httpx. httpx itself would parse and rewrite every URL a
second time, decode content encodings without a bound, and accepts no network backend. httpcore
reads no environment (proxies, CA files, .netrc) and keeps no cookies.

Each fetch has its own pool without keep-alive, so every request opens a connection and every
connection is checked. The price is a TCP and a TLS handshake per request: two or three round trips,
far less than the delay between two requests to one host.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import certifi
import httpcore

from spinneret.kernel.errors import FetchFailed, TooManyRedirects, UrlBlocked
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.body import BodyReader
from spinneret.web.fetching.connection import Deadline, GuardedBackend
from spinneret.web.fetching.decoding import ACCEPT_ENCODING
from spinneret.web.fetching.head import joined, redirect_target
from spinneret.web.fetching.models import Certificate, FetchedPage, FetchRequest, Proxy
from spinneret.web.fetching.phases import PhaseTimer, certificate_of
from spinneret.web.fetching.ports import Resolver
from spinneret.web.fetching.proxied import TunnelBackend
from spinneret.web.fetching.rules import is_blocked
from spinneret.web.fetching.urls import Url


class GuardedFetcher:
    """Implements `Fetcher` on real sockets.

    `user_agent` must be printable ASCII; `monotonic` returns seconds. `tls` replaces the default
    context (certifi's roots, host names verified), `tcp` the backend that connects to a checked
    address. With a `proxy` every connection is a tunnel through it.
    """

    def __init__(
        self,
        policy: AddressPolicy,
        resolver: Resolver,
        *,
        user_agent: str,
        monotonic: Callable[[], float] = time.monotonic,
        tls: ssl.SSLContext | None = None,
        tcp: httpcore.NetworkBackend | None = None,
        proxy: Proxy | None = None,
    ) -> None:
        if not (user_agent.isascii() and user_agent.isprintable() and user_agent.strip()):
            raise ValueError("the user agent must be printable ASCII")
        self._policy = policy
        self._resolver = resolver
        self._user_agent = user_agent
        self._monotonic = monotonic
        self._tls = tls
        self._tcp = httpcore.SyncBackend() if tcp is None else tcp
        self._proxy = proxy

    def through(self, proxy: Proxy) -> GuardedFetcher:
        """Return the same fetcher using a proxy."""
        return GuardedFetcher(
            self._policy,
            self._resolver,
            user_agent=self._user_agent,
            monotonic=self._monotonic,
            tls=self._tls_context(),
            tcp=self._tcp,
            proxy=proxy,
        )

    def fetch(self, request: FetchRequest) -> FetchedPage:
        """See `Fetcher.fetch`. The body of a response other than 2xx is empty and isn't read."""
        left = request.left_seconds() if request.left_seconds is not None else float("inf")
        deadline = Deadline(
            request.requested.host,
            total_seconds=min(request.total_seconds, left),
            read_seconds=request.read_seconds,
            monotonic=self._monotonic,
            is_cut_short=left < min(request.total_seconds, request.read_seconds),
        )
        timer = PhaseTimer(self._monotonic)
        with _translated(deadline), self._pool(deadline, timer) as pool:
            fetch = _Fetch(
                pool=pool,
                request=request,
                deadline=deadline,
                timer=timer,
                policy=self._policy,
                user_agent=self._user_agent,
            )
            return fetch.run()

    def _pool(self, deadline: Deadline, timer: PhaseTimer) -> httpcore.ConnectionPool:
        tls, tcp = self._tls_context(), self._tcp
        if self._proxy is not None:
            to_proxy = GuardedBackend(self._policy, self._resolver, deadline, tcp)
            tcp = TunnelBackend(self._proxy, to_proxy, tls, deadline)
        backend = GuardedBackend(self._policy, self._resolver, deadline, tcp, timer)
        return httpcore.ConnectionPool(
            ssl_context=tls, max_keepalive_connections=0, network_backend=backend
        )

    def _tls_context(self) -> ssl.SSLContext:
        if self._tls is None:  # on first use: reading the roots takes longer than the rest
            self._tls = ssl.create_default_context(cafile=certifi.where())
        return self._tls


@dataclass(kw_only=True)
class _Fetch:
    """One fetch in progress."""

    pool: httpcore.ConnectionPool
    request: FetchRequest
    deadline: Deadline
    timer: PhaseTimer
    policy: AddressPolicy
    user_agent: str
    redirects: list[str] = field(init=False)
    has_left: bool = field(init=False)
    """Whether a redirect has led to another origin."""
    sent: set[tuple[str, bool]] = field(init=False)
    """URLs that were requested, and whether the caller's own headers were omitted there."""

    def __post_init__(self) -> None:
        self.redirects, self.has_left, self.sent = [], False, set()
        for url in self.request.left:
            self._leave(url)
        self.has_left = self.has_left or self.request.url.origin != self.request.requested.origin

    def run(self) -> FetchedPage:
        url = self.request.url
        self._require_reachable(url)
        while True:
            method, body = self.request.method, self.request.body
            self.timer.begin()
            with self.pool.stream(
                method, _core_url(url), headers=self._headers(url), content=body
            ) as response:
                self.timer.head_received()
                certificate = _certificate(url, response)
                if certificate is not None and self.request.saw_certificate is not None:
                    self.request.saw_certificate(certificate)
                headers = joined(response.headers, self.deadline.host)
                target = self._target(url, response)
                if target is None:
                    return self._page(url, response, headers, certificate)
            if len(self.redirects) >= self.request.max_redirects:
                raise self._too_many_redirects()
            self._leave(url)
            self.has_left = self.has_left or target.origin != url.origin
            if self._request_of(target) in self.sent:  # the answers follow from the requests
                raise TooManyRedirects(f"{self.deadline.host} redirects in a circle")
            self._require_reachable(target)  # before it gets a permit and its robots.txt is read
            if self.request.before_redirect is not None:
                with self.deadline.paused():
                    self.request.before_redirect(target)
            url = target

    def _require_reachable(self, url: Url) -> None:
        if is_blocked(url, self.policy):
            raise UrlBlocked(f"{self.deadline.host} leads to a host that must not be reached")

    def _leave(self, url: Url) -> None:
        self.has_left = self.has_left or url.origin != self.request.requested.origin
        self.sent.add(self._request_of(url))
        self.redirects.append(url.text)

    def _request_of(self, url: Url) -> tuple[str, bool]:
        """Return what distinguishes a request of this fetch from its others."""
        return url.text, self.has_left and bool(self.request.headers)

    def _target(self, url: Url, response: httpcore.Response) -> Url | None:
        if not self.request.is_followed:
            return None
        return redirect_target(url, response.status, response.headers)

    def _too_many_redirects(self) -> TooManyRedirects:
        most = self.request.max_redirects
        return TooManyRedirects(
            f"{self.deadline.host} redirects more than {most} times",
            details={"max_redirects": most},
        )

    def _headers(self, url: Url) -> list[tuple[bytes, bytes]]:
        accept = ", ".join((*sorted(self.request.media_types), "*/*;q=0.1"))
        values = {
            "Host": url.authority,
            "User-Agent": self.request.user_agent or self.user_agent,
            "Accept": accept if self.request.media_types else "*/*",
            "Accept-Encoding": ACCEPT_ENCODING,
        }
        own = {name.lower() for name in values} - {"accept"}
        # Don't resend them after leaving the origin: the other origin chose any later request to
        # it.
        if not self.has_left:
            given = self.request.headers.items()
            if any(name.lower() == "accept" for name, _ in given):
                del values["Accept"]
            values |= {name: value for name, value in given if name.lower() not in own}
        encoded = {name.encode("ascii"): value.encode("ascii") for name, value in values.items()}
        return list((encoded | self._conditions(url)).items())

    def _conditions(self, url: Url) -> dict[bytes, bytes]:
        """Return the conditions (RFC 9110, section 13.1), only for the validators' own resource."""
        given = self.request.validators
        if given is None or given.url != url:
            return {}
        conditions = {b"If-None-Match": given.etag, b"If-Modified-Since": given.last_modified}
        return {name: value.encode("latin-1") for name, value in conditions.items() if value}

    def _page(
        self,
        url: Url,
        response: httpcore.Response,
        headers: Mapping[str, str],
        certificate: Certificate | None,
    ) -> FetchedPage:
        media_type, charset, body = BodyReader(
            request=self.request, deadline=self.deadline, response=response, headers=headers
        ).read(url)
        return FetchedPage(
            requested=self.request.requested,
            url=url,
            status_code=response.status,
            headers=headers,
            media_type=media_type,
            charset=charset,
            body=body,
            redirects=tuple(self.redirects),
            duration_ms=self.deadline.elapsed_ms(),
            phases=self.timer.phases(),
            certificate=certificate,
        )


def _certificate(url: Url, response: httpcore.Response) -> Certificate | None:
    """Return the host's own certificate: an http page behind an https proxy has the proxy's TLS."""
    if url.scheme != "https":
        return None
    return certificate_of(response.extensions["network_stream"].get_extra_info("ssl_object"))


def _core_url(url: Url) -> httpcore.URL:
    """Build the URL from its parts, so that nothing parses it again."""
    return httpcore.URL(
        scheme=url.scheme.encode("ascii"),
        host=url.host.encode("ascii"),
        port=url.port,
        target=url.target.encode("ascii"),
    )


@contextmanager
def _translated(deadline: Deadline) -> Iterator[None]:
    host = deadline.host
    try:
        yield
    except httpcore.TimeoutException as error:
        raise deadline.overrun("did not answer") from error
    except (httpcore.NetworkError, OSError) as error:
        message = f"the connection to {host} failed"
        raise FetchFailed(message, details={"reason": "connection"}) from error
    except httpcore.ProtocolError as error:
        raise FetchFailed(f"{host} violated HTTP", details={"reason": "protocol"}) from error

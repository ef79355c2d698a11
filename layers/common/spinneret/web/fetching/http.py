"""The guarded fetcher: one request, its redirects, and a bounded body.

It drives httpcore, the connection layer under httpx, and not httpx itself: httpx would parse and
rewrite every URL a second time, undo content encodings without a bound, and has no place for a
network backend. httpcore reads no environment (proxies, CA files, .netrc) and keeps no cookies.

Each fetch has a pool of its own that keeps nothing alive, so every request makes a connection and
every connection is checked. The price is a TCP and a TLS handshake per request: two or three round
trips, which the delay between two requests to one host exceeds by far.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from io import BytesIO
from typing import Final

import certifi
import httpcore

from spinneret.kernel.errors import (
    BodyTooLarge,
    ContentRefused,
    DomainError,
    FetchFailed,
    TooManyRedirects,
    UrlBlocked,
)
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.connection import Deadline, GuardedBackend
from spinneret.web.fetching.content_type import SNIFF_BYTES, parse_content_type, sniff_media_type
from spinneret.web.fetching.decoding import ACCEPT_ENCODING, decode, parse_content_encoding
from spinneret.web.fetching.head import declared_length, joined, redirect_target
from spinneret.web.fetching.models import FetchedPage, FetchRequest, Proxy
from spinneret.web.fetching.ports import Resolver
from spinneret.web.fetching.proxied import TunnelBackend
from spinneret.web.fetching.rules import is_blocked
from spinneret.web.fetching.urls import Url, parse_url

_BROKEN: Final = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError)


class GuardedFetcher:
    """Implements `Fetcher` on real sockets.

    `user_agent` must be printable ASCII; `monotonic` answers seconds. `tls` replaces the default
    context (certifi's roots, host names verified), `tcp` what connects to a checked address. With a
    `proxy` every connection is a tunnel through it.
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
        """The same fetcher by way of a proxy."""
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
        """See `Fetcher.fetch`. The body of an answer that isn't 2xx is left unread and empty."""
        url = parse_url(request.url)
        deadline = Deadline(
            url.host,
            total_seconds=request.total_seconds,
            read_seconds=request.read_seconds,
            monotonic=self._monotonic,
        )
        with _translated(deadline), self._pool(deadline) as pool:
            fetch = _Fetch(
                pool=pool,
                request=request,
                requested=url,
                deadline=deadline,
                policy=self._policy,
                user_agent=self._user_agent,
            )
            return fetch.run()

    def _pool(self, deadline: Deadline) -> httpcore.ConnectionPool:
        tls = self._tls_context()
        backend = GuardedBackend(self._policy, self._resolver, deadline, self._tcp)
        if self._proxy is not None:
            tunnels = TunnelBackend(self._proxy, backend, tls)
            backend = GuardedBackend(self._policy, self._resolver, deadline, tunnels)
        return httpcore.ConnectionPool(
            ssl_context=tls, max_keepalive_connections=0, network_backend=backend
        )

    def _tls_context(self) -> ssl.SSLContext:
        if self._tls is None:  # on first use: reading the roots takes longer than the rest
            self._tls = ssl.create_default_context(cafile=certifi.where())
        return self._tls


@dataclass(kw_only=True)
class _Fetch:
    """One fetch under way."""

    pool: httpcore.ConnectionPool
    request: FetchRequest
    requested: Url
    deadline: Deadline
    policy: AddressPolicy
    user_agent: str
    redirects: list[str] = field(default_factory=list)
    has_left: bool = False
    """Whether a redirect has led to another origin."""

    def run(self) -> FetchedPage:
        url = self.requested
        while True:
            if is_blocked(url, self.policy):
                raise UrlBlocked(f"{self.requested.host} leads to a host that must not be reached")
            method, body = self.request.method, self.request.body
            with self.pool.stream(
                method, _core_url(url), headers=self._headers(url), content=body
            ) as response:
                headers = joined(response.headers, self.requested.host)
                target = self._target(url, response)
                if target is None:
                    return self._page(url, response, headers)
            if len(self.redirects) >= self.request.max_redirects:
                raise self._too_many_redirects()
            self.redirects.append(url.text)
            self.has_left = self.has_left or target.origin != url.origin
            if self.request.before_redirect is not None:
                self.request.before_redirect(target)
            url = target

    def _target(self, url: Url, response: httpcore.Response) -> Url | None:
        if not self.request.is_followed:
            return None
        return redirect_target(url, response.status, response.headers)

    def _too_many_redirects(self) -> TooManyRedirects:
        most = self.request.max_redirects
        return TooManyRedirects(
            f"{self.requested.host} redirects more than {most} times",
            details={"max_redirects": most},
        )

    def _headers(self, url: Url) -> list[tuple[bytes, bytes]]:
        accept = ", ".join((*sorted(self.request.media_types), "*/*;q=0.1"))
        values = {
            "Host": url.authority,
            "User-Agent": self.user_agent,
            "Accept": accept if self.request.media_types else "*/*",
            "Accept-Encoding": ACCEPT_ENCODING,
        }
        own = {name.lower() for name in values}
        # Never again once left: on the way back, the other origin has chosen what is asked for.
        if not self.has_left:
            given = self.request.headers.items()
            values |= {name: value for name, value in given if name.lower() not in own}
        return [(name.encode("ascii"), value.encode("ascii")) for name, value in values.items()]

    def _page(
        self, url: Url, response: httpcore.Response, headers: Mapping[str, str]
    ) -> FetchedPage:
        media_type, charset = parse_content_type(headers.get("content-type", ""))
        body = b""
        if (limit := self.request.excerpt_bytes) is not None:
            body = self._excerpt(response, headers, limit)
        elif HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
            media_type, body = self._content(response, headers, media_type)
        return FetchedPage(
            requested_url=self.requested.text,
            url=url.text,
            status_code=response.status,
            headers=headers,
            media_type=media_type,
            charset=charset,
            body=body,
            redirects=tuple(self.redirects),
            duration_ms=self.deadline.elapsed_ms(),
        )

    def _excerpt(
        self, response: httpcore.Response, headers: Mapping[str, str], limit: int
    ) -> bytes:
        """The answer is known by its head, so what is wrong with the body may only end it."""
        body = b""
        forgiven = () if self.request.excerpt_is_vital else (DomainError, OSError, *_BROKEN)
        with suppress(*forgiven):
            pieces = self._decoded(response, headers)
            while len(body) < limit and (piece := next(pieces, None)) is not None:
                body += piece
        return body[:limit]

    def _content(
        self, response: httpcore.Response, headers: Mapping[str, str], media_type: str
    ) -> tuple[str, bytes]:
        limit = self.request.max_bytes
        if media_type:
            self._check_media_type(media_type)
        if declared_length(headers) > limit:
            raise BodyTooLarge(
                f"the body is larger than {limit} bytes", details={"max_bytes": limit}
            )
        body = BytesIO()
        for piece in self._decoded(response, headers):
            body.write(piece)
            if not media_type and body.tell() >= SNIFF_BYTES:
                media_type = self._sniffed(body)
        if not media_type:
            media_type = self._sniffed(body)
        return media_type, body.getvalue()

    def _decoded(self, response: httpcore.Response, headers: Mapping[str, str]) -> Iterator[bytes]:
        return decode(
            response.iter_stream(),
            parse_content_encoding(headers.get("content-encoding", "")),
            max_bytes=self.request.max_bytes,
            checkpoint=self.deadline.remaining,
        )

    def _sniffed(self, body: BytesIO) -> str:
        media_type = sniff_media_type(bytes(body.getbuffer()[:SNIFF_BYTES]))
        self._check_media_type(media_type)
        return media_type

    def _check_media_type(self, media_type: str) -> None:
        accepted = self.request.media_types
        if accepted and media_type not in accepted:
            wanted = ", ".join(sorted(accepted))
            raise ContentRefused(
                f"{self.requested.host} answered {media_type}, none of {wanted}",
                details={"media_type": media_type},
            )


def _core_url(url: Url) -> httpcore.URL:
    """From the parts, so that nothing parses the URL again."""
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
        raise FetchFailed(f"{host} broke HTTP", details={"reason": "protocol"}) from error

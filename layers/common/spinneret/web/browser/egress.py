"""The browser's only way out: a proxy of this process that applies the address rules.

Interception by DevTools is no boundary: workers, WebSockets and prefetches go past it. The browser
gets no name resolution of its own and sends everything through this proxy, which connects to the
addresses that it has checked itself.
"""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Final

import h11

from spinneret.kernel.errors import DomainError, FetchFailed, FetchTimeout, UrlBlocked, UrlInvalid
from spinneret.web.browser.relay import HEAD_MAX_BYTES, Peer, relay_exchange, relay_tunnel
from spinneret.web.browser.watch import Watch
from spinneret.web.fetching.addresses import AddressPolicy, parse_address
from spinneret.web.fetching.connection import CONNECT_ATTEMPTS
from spinneret.web.fetching.ports import Resolver
from spinneret.web.fetching.resolver import resolve_within
from spinneret.web.fetching.rules import is_blocked
from spinneret.web.fetching.urls import Url, parse_url

RESOLVE_SECONDS: Final = 10.0
CONNECT_SECONDS: Final = 10.0  # for all addresses of a host
CONNECTIONS_MAX: Final = 600  # twice the requests, since browsers also open some in advance


class EgressProxy:
    """HTTP proxy for one rendering."""

    def __init__(
        self, policy: AddressPolicy, resolver: Resolver, watch: Watch, threads: ThreadPoolExecutor
    ) -> None:
        self._policy = policy
        self._resolver = resolver
        self._watch = watch
        self._threads = threads
        self._connections = 0
        self._pinned: dict[tuple[str, int], list[str]] = {}
        self._failures: dict[tuple[str, int], DomainError] = {}
        self._serving: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        """Serve on the returned port of the loopback address until the block ends."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for task in self._serving:
                task.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)

    def failure(self, url: Url) -> DomainError | None:
        """Return the reason why the URL's host wasn't reached."""
        return self._failures.get((url.host, url.port))

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        if self._connections > CONNECTIONS_MAX:
            what = f"opens more than {CONNECTIONS_MAX} connections"
            self._watch.fail(self._watch.too_large(what))
        task = asyncio.ensure_future(self._serve(Peer(reader, writer, self._watch.count_bytes)))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, browser: Peer) -> None:
        """Serve one connection of the browser, which ends after one exchange or one tunnel."""
        try:
            await self._exchange(browser)
        except (OSError, TimeoutError, h11.ProtocolError):
            pass  # the browser sees its connection end, and reports that to the page
        finally:
            await browser.finish()

    async def _exchange(self, browser: Peer) -> None:
        http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_MAX_BYTES)
        request = await browser.next_event(http)
        if not isinstance(request, h11.Request):
            return
        try:
            destination = _destination(request)
            server = await self._connect(destination)
        except DomainError:
            await browser.send(http, h11.Response(status_code=502, headers=_CLOSE))
            return
        try:
            if request.method == b"CONNECT":
                await relay_tunnel(http, browser, server)
            else:
                await relay_exchange(http, request, browser, server)
        finally:
            server.abort()

    async def _connect(self, url: Url) -> Peer:
        key = (url.host, url.port)
        try:
            peer = await self._connected(url)
        except DomainError as error:
            self._failures[key] = error
            raise
        self._failures.pop(key, None)
        return peer

    async def _connected(self, url: Url) -> Peer:
        host = self._watch.host
        candidates = (await self._addresses(url))[:CONNECT_ATTEMPTS]
        for address in candidates:
            try:
                async with asyncio.timeout(CONNECT_SECONDS / len(candidates)):
                    reader, writer = await asyncio.open_connection(address, url.port)
            except TimeoutError:
                continue
            except OSError:
                continue
            return Peer(reader, writer, self._watch.count_bytes)
        raise FetchFailed(f"the connection to {host} failed", details={"reason": "connection"})

    async def _addresses(self, url: Url) -> list[str]:
        """Return the host's addresses, which stay the same for the whole rendering."""
        key = (url.host, url.port)
        if key not in self._pinned:
            if is_blocked(url, self._policy):
                raise UrlBlocked(f"{self._watch.host} leads to a host that must not be reached")
            found = await self._resolve(url)
            if not all(self._policy.permits(url.host, url.port, each) for each in found):
                host = self._watch.host
                raise UrlBlocked(f"{host} leads to an address that must not be reached")
            self._pinned[key] = found
        return self._pinned[key]

    async def _resolve(self, url: Url) -> list[str]:
        if parse_address(url.host) is not None:
            return [url.host]
        host = self._watch.host
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._threads, resolve_within, self._resolver, url.host, url.port, RESOLVE_SECONDS
            )
        except TimeoutError as error:
            raise FetchTimeout(f"{host} was not resolved in {RESOLVE_SECONDS:g} s") from error
        except FetchFailed as error:  # its message may name a host that a page led to
            message = f"{host} could not be resolved"
            raise FetchFailed(message, details=error.details) from error


_CLOSE: Final = [(b"Content-Length", b"0"), (b"Connection", b"close")]


def _destination(request: h11.Request) -> Url:
    """Return the origin of a tunnel (`host:port`) or of an absolute URL. Raises UrlInvalid."""
    target = request.target.decode("ascii")
    if request.method == b"CONNECT":
        return parse_url(f"https://{target}/")
    scheme, separator, rest = target.partition("://")
    if scheme != "http" or not separator:
        raise UrlInvalid("the proxy takes only http URLs")
    return parse_url(f"http://{rest.partition('/')[0].partition('?')[0]}/")

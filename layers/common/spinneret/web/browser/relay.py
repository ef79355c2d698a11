"""Relaying between the browser and a server: one HTTP exchange, or the bytes of a tunnel."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

import h11

HEAD_MAX_BYTES: Final = 256 * 1024  # of a request or response; browsers send URLs of any length
SILENCE_SECONDS: Final = 20.0  # of a server; then the page loads without the rest
CHUNK_BYTES: Final = 64 * 1024
# RFC 9110, section 7.6.1; each exchange has connections of its own, which end with it.
_OF_CONNECTION: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"te", b"upgrade"}
)
_CLOSE: Final = (b"connection", b"close")

Event = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]


class Peer:
    """One end of a relay."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        count: Callable[[int], None],
    ) -> None:
        """`count` is called with the number of bytes of each read."""
        self._reader = reader
        self._writer = writer
        self._count = count

    async def read(self) -> bytes:
        """Return the next bytes; empty at the end."""
        data = await self._reader.read(CHUNK_BYTES)
        self._count(len(data))
        return data

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def next_event(self, http: h11.Connection) -> Event:
        """Return the next event of the connection, read from this end."""
        while (event := http.next_event()) is h11.NEED_DATA:
            async with asyncio.timeout(SILENCE_SECONDS):
                http.receive_data(await self.read())
        return event

    async def send(self, http: h11.Connection, event: h11.Event) -> None:
        """Send an event to this end."""
        if data := http.send(event):
            await self.write(data)

    async def finish(self) -> None:
        """Send what was written, and close."""
        self._writer.close()
        try:
            with suppress(OSError):
                await self._writer.wait_closed()
        finally:
            self.abort()

    def abort(self) -> None:
        """Close at once."""
        self._writer.transport.abort()


async def relay_tunnel(http: h11.Connection, browser: Peer, server: Peer) -> None:
    """Accept the tunnel, and relay until the server ends it or is silent for too long."""
    await browser.send(http, h11.Response(status_code=200, headers=[]))
    early, _ = http.trailing_data
    await server.write(early)
    upward = asyncio.ensure_future(_pump(browser, server))
    try:
        while True:
            async with asyncio.timeout(SILENCE_SECONDS):
                data = await server.read()
            if not data:
                return
            await browser.write(data)
    finally:
        upward.cancel()
        await asyncio.gather(upward, return_exceptions=True)


async def _pump(source: Peer, target: Peer) -> None:
    while data := await source.read():
        await target.write(data)


async def relay_exchange(
    http: h11.Connection, request: h11.Request, browser: Peer, server: Peer
) -> None:
    """Relay one request with an absolute URL, and its response."""
    outward = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_MAX_BYTES)
    await server.send(outward, _forwarded(request))
    while not isinstance(event := await browser.next_event(http), h11.EndOfMessage):
        if not isinstance(event, h11.Data):
            return
        await server.send(outward, event)
    await server.send(outward, event)
    while True:
        answer = await server.next_event(outward)
        if isinstance(answer, h11.InformationalResponse):
            continue
        if isinstance(answer, h11.Response):
            headers = [*_kept(answer.headers), _CLOSE]
            answer = h11.Response(
                status_code=answer.status_code, headers=headers, reason=answer.reason
            )
        elif not isinstance(answer, h11.Data | h11.EndOfMessage):
            return
        await browser.send(http, answer)
        if isinstance(answer, h11.EndOfMessage):
            return


def _forwarded(request: h11.Request) -> h11.Request:
    """Return the request in origin form (RFC 9112, section 3.2.1)."""
    after_scheme = request.target.partition(b"://")[2]
    authority = after_scheme.partition(b"/")[0].partition(b"?")[0]
    target = after_scheme[len(authority) :]
    if not target.startswith(b"/"):
        target = b"/" + target
    headers = [*_kept(request.headers), _CLOSE]
    return h11.Request(method=request.method, target=target, headers=headers)


def _kept(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name not in _OF_CONNECTION]

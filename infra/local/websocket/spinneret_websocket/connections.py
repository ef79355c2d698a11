"""Open connections, for ``@connections``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from starlette.websockets import WebSocketDisconnect

from spinneret_websocket.errors import ClientTooSlow, ConnectionGone
from spinneret_websocket.limits import SEND_SECONDS

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

    from spinneret_websocket.events import Clock, Peer


@dataclass(frozen=True, kw_only=True)
class Ending:
    """A close status and reason; ``by_gateway`` means that the client still needs a close frame."""

    code: int
    reason: str
    by_gateway: bool = False


DELETED: Final = Ending(code=1000, reason="Connection closed normally", by_gateway=True)
# Status that clients of AWS receive after the idle time-out and after the longest duration.
EXPIRED: Final = Ending(code=1001, reason="Going away", by_gateway=True)


@dataclass(frozen=True, kw_only=True)
class Lifetime:
    """Maximum duration of a connection, in seconds: without a message, and in total."""

    idle: float
    total: float


class Connection:
    """An open connection."""

    def __init__(self, peer: Peer, websocket: WebSocket, clock: Clock) -> None:
        self.peer = peer
        self.last_active_at: datetime = peer.connected_at
        self._websocket = websocket
        self._clock = clock
        self._opened = self._active = _now()
        self._turn = asyncio.Lock()
        self._deleted = asyncio.Event()

    def touch(self) -> None:
        """Record that a message has passed, in either direction."""
        self.last_active_at = self._clock()
        self._active = _now()

    async def send(self, text: str) -> None:
        """Send a text message completely, or not at all.

        Raises:
            ClientTooSlow: earlier messages still fill the buffer after SEND_SECONDS.
            ConnectionGone: the connection is closing or closed.
        """
        try:
            # One at a time, so that freed buffer space is used by one message, not by all waiting
            # ones.
            async with asyncio.timeout(SEND_SECONDS), self._turn:
                await self._websocket.send_text(text)
        except TimeoutError as error:
            raise ClientTooSlow("the client does not read its messages") from error
        # Starlette and uvicorn raise RuntimeError for a message after a close frame.
        except (WebSocketDisconnect, RuntimeError) as error:
            raise ConnectionGone(self.peer.connection_id) from error
        self.touch()

    def delete(self) -> None:
        self._deleted.set()

    async def deleted(self) -> Ending:
        await self._deleted.wait()
        return DELETED

    async def expired(self, lifetime: Lifetime) -> Ending:
        """Wait until the connection has been idle, or open, for too long."""
        while True:
            end = min(self._active + lifetime.idle, self._opened + lifetime.total)
            left = end - _now()
            if left <= 0:
                return EXPIRED
            await asyncio.sleep(left)


def _now() -> float:
    """Return the seconds of the clock that `asyncio.sleep` uses."""
    return asyncio.get_running_loop().time()


class Connections:
    """Open connections by id."""

    def __init__(self) -> None:
        self._open: dict[str, Connection] = {}

    @contextmanager
    def holding(self, connection: Connection) -> Iterator[None]:
        """Register the connection for `find` while the block runs."""
        key = connection.peer.connection_id
        self._open[key] = connection
        try:
            yield
        finally:
            self._open.pop(key, None)

    def find(self, key: str) -> Connection:
        """Return the open connection. Raises ConnectionGone."""
        try:
            return self._open[key]
        except KeyError:
            raise ConnectionGone(key) from None

    def delete(self, key: str) -> None:
        """Close a connection, and unregister it at once. Raises ConnectionGone."""
        self.find(key).delete()
        del self._open[key]

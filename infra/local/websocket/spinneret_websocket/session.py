"""One client, from its handshake to the ``$disconnect`` event."""

import asyncio
import json
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import JSONResponse
from starlette.websockets import WebSocket

from spinneret_websocket.connections import Connection, Connections, Ending, Lifetime
from spinneret_websocket.errors import ConnectionsError, InvocationError
from spinneret_websocket.events import NO_CLOSE_STATUS, Clock, EventSource, NewId, Peer
from spinneret_websocket.handshake import Accepted, Refused, read_answer
from spinneret_websocket.limits import MESSAGES_WAITING, SEND_SECONDS
from spinneret_websocket.live_function import LiveFunction

_log = logging.getLogger(__name__)

# RFC 6455, section 7.4.1. API Gateway takes no binary messages ("Binary media types for WebSocket
# APIs", API Gateway Developer Guide).
NO_BINARY: Final = Ending(code=1003, reason="Binary messages are not supported", by_gateway=True)
LOST: Final = Ending(code=1006, reason="")


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """Dependencies of all sessions."""

    api_id: str
    stage: str
    lifetime: Lifetime
    function: LiveFunction
    connections: Connections
    clock: Clock
    new_id: NewId


class Session:
    """Lifetime of one connection; call ``run`` once."""

    def __init__(self, websocket: WebSocket, gateway: Gateway) -> None:
        self._websocket = websocket
        self._gateway = gateway
        self._peer = _peer(websocket, gateway)
        self._events = EventSource(self._peer, gateway.clock, gateway.new_id)
        self._messages: asyncio.Queue[str | None] = asyncio.Queue(MESSAGES_WAITING)

    async def run(self) -> None:
        admission = await self._admission()
        if isinstance(admission, Refused):
            await self._refuse(admission)
            return
        connection = Connection(self._peer, self._websocket, self._gateway.clock)
        worker = asyncio.ensure_future(self._deliver(connection))
        try:
            ending = await self._hold(connection, admission)
            self._report("closed with %d", ending.code)
            await self._messages.put(None)
            await worker
            await self._disconnect(ending)
        finally:
            worker.cancel()

    async def _admission(self) -> Accepted | Refused:
        if self._websocket.path_params["stage"] != self._gateway.stage:
            return Refused(status=403)
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in self._websocket.scope["headers"]
        ]
        query = self._websocket.scope["query_string"].decode("latin-1")
        try:
            answer = await self._gateway.function.invoke(self._events.connect(headers, query))
            return read_answer(answer)
        except InvocationError as error:
            self._report("$connect: %s", error)
            return Refused(status=error.status)

    async def _refuse(self, refused: Refused) -> None:
        self._report("refused with %d", refused.status)
        body = self._error(refused.phrase, self._gateway.new_id())
        await self._websocket.send_denial_response(JSONResponse(body, refused.status))

    async def _hold(self, connection: Connection, admission: Accepted) -> Ending:
        """Accept the handshake and wait for the end; return once the connection is closed."""
        try:
            await self._websocket.accept(admission.subprotocol)
        except OSError:  # the client did not wait for the answer
            return LOST
        self._report("opened")
        with self._gateway.connections.holding(connection):
            ending = await _first(
                self._read(connection),
                connection.deleted(),
                connection.expired(self._gateway.lifetime),
            )
        if ending.by_gateway:
            await self._close(ending)
        return ending

    async def _read(self, connection: Connection) -> Ending:
        """Read messages until the client closes or sends a forbidden message."""
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return _client_ending(message)
            connection.touch()
            text = message.get("text")
            if text is None:
                return NO_BINARY
            await self._messages.put(text)

    async def _close(self, ending: Ending) -> None:
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await self._websocket.close(ending.code, ending.reason)
        except (TimeoutError, OSError, RuntimeError):
            # A client that does not read, or has left, gets no close frame; it is gone all the
            # same.
            self._report("could not be notified of its end")

    async def _deliver(self, connection: Connection) -> None:
        """Invoke the function for each message, in the order of arrival."""
        while (text := await self._messages.get()) is not None:
            event = self._events.message(text)
            try:
                # The answer's status is ignored, because the route has no response.
                await self._gateway.function.invoke(event)
            except InvocationError as error:
                self._report("$default: %s", error)
                request_id = event["requestContext"]["requestId"]
                await self._tell(connection, self._error("Internal server error", request_id))

    async def _tell(self, connection: Connection, body: dict[str, str]) -> None:
        try:
            await connection.send(json.dumps(body))
        except ConnectionsError as error:
            self._report("could not be notified of a failure: %s", error.code)

    async def _disconnect(self, ending: Ending) -> None:
        """Send the event once, without retries, as AWS does."""
        try:
            await self._gateway.function.invoke(self._events.disconnect(ending.code, ending.reason))
        except InvocationError as error:
            self._report("$disconnect: %s", error)

    def _error(self, message: str, request_id: str) -> dict[str, str]:
        key = self._peer.connection_id
        return {"message": message, "connectionId": key, "requestId": request_id}

    def _report(self, text: str, *values: object) -> None:
        """Log without the query string, which may hold a credential."""
        _log.info(f"%s {text}", self._peer.connection_id, *values)


def _peer(websocket: WebSocket, gateway: Gateway) -> Peer:
    assert websocket.client is not None  # a TCP connection has an address
    return Peer(
        connection_id=gateway.new_id(),
        connected_at=gateway.clock(),
        api_id=gateway.api_id,
        stage=gateway.stage,
        domain_name=websocket.headers["host"],
        source_ip=websocket.client.host,
        user_agent=websocket.headers.get("user-agent"),
    )


def _client_ending(message: Any) -> Ending:
    """Return the client's close status; LOST for a connection that broke without a close frame."""
    if message["code"] == NO_CLOSE_STATUS and "reason" not in message:
        return LOST
    return Ending(code=message["code"], reason=message.get("reason") or "")


async def _first(*waits: Coroutine[Any, Any, Ending]) -> Ending:
    """Return the result of the coroutine that ends first; cancel the others."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        for task in tasks:
            task.cancel()

"""Routes: clients at ``/<stage>``, functions at ``/<stage>/@connections``."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from spinneret_websocket.errors import ConnectionsError, NotText, PayloadTooLarge, StageUnknown
from spinneret_websocket.limits import MESSAGE_MAX_BYTES
from spinneret_websocket.session import Gateway, Session

_log = logging.getLogger(__name__)


class Endpoints:
    """Handlers over one gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def client(self, websocket: WebSocket) -> None:
        try:
            await Session(websocket, self._gateway).run()
        except asyncio.CancelledError:
            # uvicorn cancels requests that exceed the grace period of a shutdown, and logs it as an
            # error.
            _log.info("a connection was dropped: the gateway is shutting down")

    async def connection(self, request: Request) -> Response:
        if request.path_params["stage"] != self._gateway.stage:
            raise StageUnknown(request.path_params["stage"])
        key = request.path_params["connection_id"]
        if request.method == "POST":
            return await self._post(key, request)
        if request.method == "DELETE":
            self._gateway.connections.delete(key)
            return Response(status_code=204)
        return self._get(key)

    async def health(self, _request: Request) -> Response:
        return Response()

    async def _post(self, key: str, request: Request) -> Response:
        connection = self._gateway.connections.find(key)
        await connection.send(await _text(request))
        return Response()

    def _get(self, key: str) -> Response:
        connection = self._gateway.connections.find(key)
        peer = connection.peer
        return JSONResponse(
            {
                "connectedAt": _iso(peer.connected_at),
                "identity": {"userAgent": "", **peer.identity},
                "lastActiveAt": _iso(connection.last_active_at),
            }
        )


def create_app(gateway: Gateway, close: Callable[[], Awaitable[None]]) -> Starlette:
    """Return the ASGI application; it calls ``close`` when it shuts down."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await close()

    endpoints = Endpoints(gateway)
    methods = ["GET", "POST", "DELETE"]
    return Starlette(
        routes=[
            Route("/healthz", endpoints.health),
            Route("/{stage}/@connections/{connection_id}", endpoints.connection, methods=methods),
            WebSocketRoute("/{stage}", endpoints.client),
        ],
        exception_handlers={ConnectionsError: _refuse},
        lifespan=lifespan,
    )


async def _text(request: Request) -> str:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MESSAGE_MAX_BYTES:
            raise PayloadTooLarge(f"a message has at most {MESSAGE_MAX_BYTES} bytes")
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise NotText("the payload is not UTF-8") from error


async def _refuse(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ConnectionsError)
    headers = {"x-amzn-errortype": error.code}
    if isinstance(error, PayloadTooLarge):
        # The rest of the body is never read, so the connection cannot serve another request.
        headers["connection"] = "close"
    return JSONResponse({"message": str(error)}, error.status, headers)


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

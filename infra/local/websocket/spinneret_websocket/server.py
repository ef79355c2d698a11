"""``python -m spinneret_websocket.server``: serve the WebSocket API of a deployed stack."""

import argparse
import errno
import logging
import socket
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

import httpx
import uvicorn
from starlette.applications import Starlette

from spinneret_websocket import limits
from spinneret_websocket.app import create_app
from spinneret_websocket.connections import Connections, Lifetime
from spinneret_websocket.events import new_id
from spinneret_websocket.live_function import LiveFunction
from spinneret_websocket.session import Gateway


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    logging.getLogger("spinneret_websocket").setLevel(logging.INFO)
    logging.getLogger("uvicorn.error").addFilter(_is_no_false_alarm)
    try:
        listener = _bound(options.host, options.port)
    except OSError as error:
        where = f"{options.host}:{options.port}"
        is_busy = error.errno == errno.EADDRINUSE
        why = "another program uses this port" if is_busy else str(error.strerror)
        print(f"the WebSocket gateway can't listen on {where}: {why}", file=sys.stderr)
        return 1
    config = uvicorn.Config(
        _app(options),
        ws="websockets-sansio",
        ws_max_size=limits.MESSAGE_MAX_BYTES,
        # A missing pong has no effect: on loopback the end of a client is always noticed.
        ws_ping_interval=limits.PING_SECONDS,
        ws_ping_timeout=None,
        ws_per_message_deflate=False,  # like API Gateway
        access_log=False,  # it would log query strings, which may hold credentials
        log_level=logging.WARNING,
        log_config=None,  # logging is configured above
        timeout_graceful_shutdown=limits.SHUTDOWN_GRACE_SECONDS,
    )
    server = uvicorn.Server(config)
    server.run(sockets=[listener])
    return 0 if server.started else 1


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to the port. Raises OSError."""
    listener = socket.socket()
    # Connections of a stopped gateway that linger don't count.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


def _is_no_false_alarm(record: logging.LogRecord) -> bool:
    """Drop uvicorn's warning about a handshake that was refused with a status."""
    return "returned without completing handshake" not in record.msg


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="spinneret_websocket.server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--aws-endpoint", required=True, metavar="URL")
    parser.add_argument("--region", required=True)
    parser.add_argument("--stack", required=True, help="has the output WebSocketFunction")
    parser.add_argument("--stage", required=True, help="the path that clients connect to")
    parser.add_argument("--api-id", default="local")
    parser.add_argument("--idle-seconds", type=float, default=limits.IDLE_SECONDS)
    parser.add_argument("--connection-seconds", type=float, default=limits.CONNECTION_SECONDS)
    return parser


def _app(options: argparse.Namespace) -> Starlette:
    http = httpx.AsyncClient(
        base_url=options.aws_endpoint,
        timeout=None,  # noqa: S113 - each call has its own deadline
        trust_env=False,
        # The AWS endpoint may have been restarted since the last call.
        limits=httpx.Limits(max_keepalive_connections=0),
    )
    gateway = Gateway(
        api_id=options.api_id,
        stage=options.stage,
        lifetime=Lifetime(idle=options.idle_seconds, total=options.connection_seconds),
        function=LiveFunction(http, options.stack, options.region),
        connections=Connections(),
        clock=lambda: datetime.now(UTC),
        new_id=new_id,
    )
    return create_app(gateway, http.aclose)


if __name__ == "__main__":
    sys.exit(main())

"""Lambda Runtime API (2018-06-01) of one process, on its own loopback port.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

import http.server
import re
import socket
import sys
import threading
from collections.abc import Mapping
from http import HTTPStatus
from io import BufferedIOBase
from typing import Any

from spinneret_localstack.process_executor.exchange import Exchange, Reply, ReplyKind

NEXT = "/2018-06-01/runtime/invocation/next"
INIT_ERROR = "/2018-06-01/runtime/init/error"
REPLY = re.compile(r"/2018-06-01/runtime/invocation/([^/]+)/(response|error)")

_ACCEPTED = b'{"status":"OK"}'
_INVALID_REQUEST_ID = b'{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}'


class RuntimeApi:
    """Server that listens until `close`. `address` is the value of AWS_LAMBDA_RUNTIME_API."""

    def __init__(self, exchange: Exchange) -> None:
        self._closed = False
        self._server = _Server(exchange)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._serve, name="lambda-runtime-api", daemon=True).start()

    def close(self) -> None:
        self._closed = True
        # Wakes the server, which waits for a connection.
        self._server.socket.shutdown(socket.SHUT_RDWR)

    def _serve(self) -> None:
        # Not serve_forever, which wakes up twice a second in every idle environment.
        while not self._closed:
            self._server.handle_request()
        self._server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A killed process resets its connections; `RuntimeProcess` detects its end.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        if self.path != NEXT:
            self._answer(HTTPStatus.NOT_FOUND, b"")
            return
        request = self.server.exchange.next_request()
        if request is None:
            self.close_connection = True
            return
        self._answer(HTTPStatus.OK, request.body, request.headers)

    def do_POST(self) -> None:
        body = self._body()
        exchange = self.server.exchange
        if self.path == INIT_ERROR:
            exchange.put_init_error(body)
            self._answer(HTTPStatus.ACCEPTED, _ACCEPTED)
        elif match := REPLY.fullmatch(self.path):
            request_id, kind = match.groups()
            if exchange.put_reply(request_id, Reply(ReplyKind(kind), body)):
                self._answer(HTTPStatus.ACCEPTED, _ACCEPTED)
            else:
                self._answer(HTTPStatus.FORBIDDEN, _INVALID_REQUEST_ID)
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"")

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return _read_chunks(self.rfile)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _answer(
        self, status: HTTPStatus, body: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # as in the base class
        """Log nothing: every invocation would write two lines to LocalStack's standard error."""


def _read_chunks(stream: BufferedIOBase) -> bytes:
    chunks: list[bytes] = []
    while size := int(stream.readline().partition(b";")[0], 16):
        chunks.append(stream.read(size))
        stream.readline()
    while stream.readline().strip():  # trailers, up to the empty line that ends the message
        continue
    return b"".join(chunks)

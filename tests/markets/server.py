"""The fake marketplaces on a loopback port, for a deployed application."""

import json
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.markets.ebay import FakeEbay
from tests.markets.etsy import FakeEtsy
from tests.markets.recording import record
from tests.markets.web import Market, RecordedRequest

_JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01" + b"\x00" * 64


class MarketServer:
    """A server of eBay, Etsy, `/image/…` and `/live` that runs inside its `with` block.

    It handles one request at a time.
    """

    def __init__(self, port: int) -> None:
        self.ebay = FakeEbay(lambda: datetime.now(UTC))
        self.etsy = FakeEtsy(lambda: datetime.now(UTC))
        self.seen: list[RecordedRequest] = []
        self.lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"markets": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    markets: MarketServer

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        size = int(self.headers.get("Content-Length") or 0)
        seen = RecordedRequest(
            method=self.command,
            path=parts.path,
            query=parse_qs(parts.query),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self.rfile.read(size),
        )
        if parts.path == "/live":
            with self.markets.lock:
                counts = {
                    "ebay": len(self.markets.ebay.listings),
                    "etsy": len(self.markets.etsy.listings),
                }
            self._answer(200, json.dumps(counts).encode(), {"Content-Type": "application/json"})
            return
        if parts.path.startswith("/image/"):
            self._answer(200, _JPEG, {"Content-Type": "image/jpeg"})
            return
        with self.markets.lock:
            self.markets.seen.append(seen)
            record(seen)
            is_etsy = parts.path.startswith("/v3/")
            market: Market = self.markets.etsy if is_etsy else self.markets.ebay
            said = market.serve(seen)
        self._answer(said.status, said.body, {"Content-Type": "application/json", **said.headers})

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - names of http.server

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""

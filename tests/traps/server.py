"""The site on a loopback port, with counts of its requests."""

import threading
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.traps.site import TrapSite


class TrapServer:
    """A server that runs inside its `with` block; port 0 picks a free one."""

    def __init__(self, site: TrapSite, port: int = 0) -> None:
        self.site = site
        self.requests: Counter[str] = Counter()
        """Names of pages → number of requests; robots.txt isn't counted."""
        self.ended = threading.Event()
        handler = type("Handler", (_Handler,), {"trap_server": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Return the URL of the first page."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    def asks(self, name: str) -> None:
        """Count a request."""
        with self._lock:
            self.requests[name] += 1

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    trap_server: TrapServer

    def do_GET(self) -> None:
        """Respond like the site, with the same delay."""
        site = self.trap_server.site
        if self.path != "/robots.txt":
            self.trap_server.asks(site.name_of(self.path))
        answer = site.answer(self.path)
        self.trap_server.ended.wait(answer.seconds)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):  # the client has disconnected
            self.wfile.write(answer.body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""

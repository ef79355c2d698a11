"""The site on a loopback port, with a log of what was asked for."""

import threading
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.traps.site import TrapSite


class TrapServer:
    """Serves while it is entered; port 0 picks a free one."""

    def __init__(self, site: TrapSite, port: int = 0) -> None:
        self.site = site
        self.requests: Counter[str] = Counter()
        """Names of pages → how often they were asked for; robots.txt is none."""
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
        """Of its first page."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    def asks(self, name: str) -> None:
        """Keep a request."""
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
        """Answer as the site does, as slowly."""
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
        with suppress(BrokenPipeError, ConnectionResetError):  # the client has seen enough
            self.wfile.write(answer.body)

    def log_message(self, *_: Any) -> None:
        """Quiet."""

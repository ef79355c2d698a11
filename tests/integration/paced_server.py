"""A host on loopback that reports when its pages were asked for."""

import contextlib
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Final

HELD_SECONDS: Final = 60.0  # that a page is kept waiting at most


class Site:
    """A server on a loopback address of its own; reports when each page was asked for."""

    def __init__(self, number: int) -> None:
        self.arrivals: list[float] = []
        """Of pages, on the monotonic clock."""
        self.robots = ""
        self.status = 204
        self.answers = Event()
        """Cleared, it keeps pages waiting."""
        self.answers.set()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                arrived = time.monotonic()
                body = site.robots.encode()
                if self.path == "/robots.txt":
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(body)))
                    self.send_header("Content-Type", "text/plain")
                    self.end_headers()
                    self.wfile.write(body)
                    return
                site.arrivals.append(arrived)
                site.answers.wait(HELD_SECONDS)
                self.send_response(site.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

            def handle(self) -> None:
                with contextlib.suppress(ConnectionError):  # a worker was killed
                    super().handle()

        self._server = ThreadingHTTPServer((f"127.0.0.{number}", 0), Handler)
        self._server.daemon_threads = True
        self.host, self.port = str(self._server.server_address[0]), self._server.server_port
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        """A page of it."""
        return f"http://{self.host}:{self.port}/page"

    def close(self) -> None:
        """Ends the server and its thread."""
        self.answers.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

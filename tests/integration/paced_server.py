"""A host on loopback that records when its pages were requested."""

import contextlib
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Final

HELD_SECONDS: Final = 60.0  # longest time for which a page is held back


class Site:
    """A server on its own loopback address that records when each page was requested."""

    def __init__(self, number: int) -> None:
        self.arrivals: list[float] = []
        """Arrival times of page requests, in seconds on the monotonic clock."""
        self.robots = ""
        self.status = 204
        self.answers = Event()
        """Event that releases responses: while it is cleared, the server holds pages back."""
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
                """Print no access log."""

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
        """Return the URL of a page of this server."""
        return f"http://{self.host}:{self.port}/page"

    def close(self) -> None:
        """Stop the server and its thread."""
        self.answers.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

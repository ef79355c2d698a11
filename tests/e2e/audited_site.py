"""A website to audit: the good fixture site on loopback; tests can break or hold its pages."""

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.unit.audits.site import GOOD_HEADERS, NAMES, Page

PATHS = ("/", *(f"/{name}" for name in NAMES))
_FILES = {
    "/preview.png": ("image/png", b""),
    "/title.js": ("text/javascript", b'document.title = "Oaks and their wood | Timber"'),
}


@dataclass
class AuditedSite:
    """A website that serves within its context, and records the time of each request."""

    port: int
    delay: float = 0.0
    """Delay of each response in seconds."""
    broken: frozenset[str] = frozenset()
    """Paths of pages without a title."""
    planted: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Changed parts of pages, by path."""
    answers_anything: bool = False
    """Whether unknown paths get a page instead of 404."""
    asked: list[tuple[float, str, str]] = field(default_factory=list)
    """Monotonic time, method and path of each request."""

    def __post_init__(self) -> None:
        self.url = f"http://127.0.0.1:{self.port}"
        self.held = threading.Event()
        self.held.set()
        handler = type("Handler", (_Handler,), {"site": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.held.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def body(self, path: str) -> tuple[int, str, bytes]:
        """Return the status, media type and body of a path."""
        if path == "/robots.txt":
            text = f"User-agent: *\nAllow: /\n\nSitemap: {self.url}/sitemap.xml\n"
            return 200, "text/plain; charset=utf-8", text.encode()
        if path == "/sitemap.xml":
            rows = "".join(f"<url><loc>{self.url}{each}</loc></url>" for each in PATHS)
            text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
            return 200, "application/xml", text.encode()
        if path in _FILES:
            return 200, *_FILES[path]
        if path not in PATHS and self.answers_anything:
            return 200, "text/html; charset=utf-8", b"<title>Page not found</title>Nothing here"
        if path not in PATHS:
            return 404, "text/plain", b"nothing here"
        page = replace(Page(path=path, links=PATHS), **self.planted.get(path, {}))
        if path in self.broken:
            page = replace(page, title=None)
        return 200, "text/html; charset=utf-8", replace(page, host=self.url).html().encode()


class _Handler(BaseHTTPRequestHandler):
    site: AuditedSite
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.site.asked.append((time.monotonic(), self.command, self.path))
        self.site.held.wait(60)
        time.sleep(self.site.delay)
        status, media_type, body = self.site.body(self.path)
        with suppress(ConnectionError):
            self.send_response(status)
            for name, value in GOOD_HEADERS.items():
                if name not in {"content-type", "content-encoding"}:
                    self.send_header(name, value)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 - the standard library's name

    def log_message(self, *_: Any) -> None:
        """Print no access log."""

"""Serve the pages on a loopback port, for the duration of a test or from the command line.

Every response is built before the first request and looked up by its exact path, so no part of a
request ever reaches the file system.
"""

import argparse
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import unquote
from xml.sax.saxutils import escape

PAGES: Final = Path(__file__).parent / "pages"
HOST: Final = "127.0.0.1"
CLIENT_TIMEOUT_SECONDS: Final = 10.0
JOIN_TIMEOUT_SECONDS: Final = 5.0

HTML: Final = "text/html; charset=utf-8"
TEXT: Final = "text/plain; charset=utf-8"
XML: Final = "application/xml; charset=utf-8"

NOT_FOUND_PAGE: Final = (
    '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Not found</title></head>'
    '\n<body><h1>Not found</h1><p><a href="/">Silk and Webs</a></p></body>\n</html>\n'
)


@dataclass(frozen=True, slots=True)
class Content:
    """A response ready to send; `body` is already in the charset that `media_type` names."""

    media_type: str
    body: bytes


NOT_FOUND: Final = Content(HTML, NOT_FOUND_PAGE.encode())


def page_paths() -> list[str]:
    """Return the URL paths of all pages, sorted: `/` for the index, the others without `.html`."""
    return sorted(_pages())


def _pages() -> dict[str, Path]:
    return {_url_path(file): file for file in PAGES.rglob("*.html")}


def _url_path(file: Path) -> str:
    name = file.relative_to(PAGES).with_suffix("").as_posix()
    return "/" if name == "index" else f"/{name}"


def _site(base_url: str) -> dict[str, Content]:
    """Return all responses of the site by path; `base_url` ends with a slash."""
    pages = {path: Content(HTML, file.read_bytes()) for path, file in _pages().items()}
    return pages | {
        "/robots.txt": Content(TEXT, _robots(base_url).encode()),
        "/sitemap.xml": Content(XML, _sitemap(base_url, sorted(pages)).encode()),
    }


def _robots(base_url: str) -> str:
    return f"User-agent: *\nAllow: /\n\nSitemap: {base_url}sitemap.xml\n"


def _sitemap(base_url: str, paths: Sequence[str]) -> str:
    urls = "".join(
        f"  <url><loc>{escape(base_url + path.removeprefix('/'))}</loc></url>\n" for path in paths
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'
    )


class _SiteServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__((HOST, port), _SiteHandler)
        self.base_url: Final = f"http://{HOST}:{self.server_port}/"
        self.site: Final[Mapping[str, Content]] = _site(self.base_url)


class _SiteHandler(BaseHTTPRequestHandler):
    server: _SiteServer
    timeout = CLIENT_TIMEOUT_SECONDS

    def do_GET(self) -> None:
        self.wfile.write(self._send_head().body)

    def do_HEAD(self) -> None:
        self._send_head()

    def _send_head(self) -> Content:
        found = self.server.site.get(unquote(self.path.partition("?")[0]))
        content = found or NOT_FOUND
        self.send_response(HTTPStatus.OK if found else HTTPStatus.NOT_FOUND)
        self.send_header("Content-Type", content.media_type)
        self.send_header("Content-Length", str(len(content.body)))
        self.end_headers()
        return content

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing: a line per request would drown the output of a test."""


@contextmanager
def serve(port: int = 0) -> Iterator[str]:
    """Serve from a thread and yield the base URL with its final slash; port 0 picks a free one."""
    with _SiteServer(port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.base_url
        finally:
            server.shutdown()
            thread.join(JOIN_TIMEOUT_SECONDS)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Serve the test website on the loopback address.")
    parser.add_argument("--port", type=int, default=0, help="0 (the default) picks a free port")
    port: int = parser.parse_args(arguments).port
    stop = threading.Event()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, lambda *_: stop.set())
    with serve(port) as base_url:
        print(base_url, flush=True)
        stop.wait()


if __name__ == "__main__":
    main()

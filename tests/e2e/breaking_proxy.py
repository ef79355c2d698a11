"""A reverse proxy on loopback that breaks connections during responses."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx


class BreakingProxy(ThreadingHTTPServer):
    """Forward requests to a gateway, and cut responses to paths that end with `cut_path`."""

    daemon_threads = True

    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = httpx.Client(base_url=target, timeout=60, trust_env=False)
        self.cut_path = ""
        self.cuts: list[int] = []
        """Number of body bytes that pass before each cut; -1 drops the whole response."""
        self.forwarded: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        """Return the proxy's address."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: BreakingProxy

    def _forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kept = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection")}
        answer = self.server.target.request(self.command, self.path, content=body, headers=kept)
        self.server.forwarded.append((self.command, self.path))
        allowed = None
        if self.server.cuts and self.server.cut_path and self.path.endswith(self.server.cut_path):
            allowed = self.server.cuts.pop(0)
        self.close_connection = True
        if allowed == -1:
            return
        self.send_response(answer.status_code)
        for name, value in answer.headers.items():
            if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                self.send_header(name, value)
        if answer.status_code != 204:
            self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content[:allowed])

    do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = _forward  # noqa: N815 - the base's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Print no access log."""


@contextmanager
def breaking_proxy(target: str) -> Iterator[BreakingProxy]:
    """Serve a proxy of `target` within the context."""
    with BreakingProxy(target) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            server.target.close()

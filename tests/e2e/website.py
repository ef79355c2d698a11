"""A small web server for end-to-end tests; each path has its own behaviour."""

import json
import threading
from base64 import b64decode
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.pixels import SQUARES

_SHELL = b"""<!doctype html><title>Loading</title><div id="app"></div><script>
const text = %s;
document.title = text;
document.querySelector("#app").innerHTML = `<h1>${text}</h1>` +
    `<p>This page is about ${text}, as weavers have made them for ages.</p>`.repeat(5);
</script>"""


@dataclass(frozen=True)
class Hook:
    """A webhook, as the website received it."""

    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Tunnel:
    """A tunnel, as a client requested it."""

    target: str
    authorization: str


class Website:
    """A website that serves on loopback within its context.

    `/page?text=…`   returns an article
    `/squares`       returns three squares
    `/scripted?text=…` returns an article that only its script shows
    `/moved?to=…`    redirects
    `/type?is=…`     returns a body of that content type
    `/large?bytes=…` announces and sends that many bytes
    `/status?code=…` returns that status
    `/once?text=…`   returns 404 the first time, then an article
    `/now?name=…`    returns an article, with the status that `now` has for that name
    `/held?text=…`   returns an article after a call of `release`
    `/hook?name=…`   receives a webhook; returns the next of `statuses`, or 200 if there is none
    `/chatty?code=…` returns that status, with a secret in all suitable parts of the response;
                     a POST to `/provider` returns such a response, too
    `/leak?in=…`     redirects, with a secret in that part of the URL
    `/changing`      returns an article about `changing`, or 410 if it is None
    `/collinfo.json` returns the list of indexes of captures, or 503 if `captures` is None
    `/cdx`           lists `captures`

    The website is also a proxy, whose tunnels lead back to it.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.requests: Counter[str] = Counter()
        """Number of requests by path."""
        self.pages: Counter[str] = Counter()
        """Number of requests by path and query."""
        self.hooks: defaultdict[str, list[Hook]] = defaultdict(list)
        """Webhooks that `/hook` received, by name."""
        self.statuses: defaultdict[str, list[int]] = defaultdict(list)
        self.now: defaultdict[str, int] = defaultdict(lambda: 200)
        """Status of `/now`, by name."""
        self.tunnels: list[Tunnel] = []
        self.proxy_password = ""
        """Password that tunnels require; none if empty."""
        self.changing: str | None = None
        self.captures: list[str] | None = None
        self.headers: dict[str, dict[str, str]] = {}
        """Headers of the last request, by path."""
        self.arrived = threading.Event()
        self.released = threading.Event()
        self.secrets: dict[str, str] = {}
        """Secrets in responses, by status (`/chatty`), part (`/leak`), name (`/hook`) or
        `provider`."""
        handler = type("Handler", (_Handler,), {"website": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def hold(self) -> None:
        """Make requests to `/held` wait."""
        self.arrived.clear()
        self.released.clear()

    def release(self) -> None:
        """Let `/held` answer."""
        self.released.set()


class _Handler(BaseHTTPRequestHandler):
    """Handler of one request; a subclass sets its website."""

    website: Website

    def do_GET(self) -> None:
        """Call the method of the path."""
        parts = urlsplit(self.path)
        self.website.requests[parts.path] += 1
        self.website.headers[parts.path] = dict(self.headers.items())
        self.website.pages[self.path] += 1
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        name = parts.path.strip("/").removesuffix(".json")
        getattr(self, f"_{name}", self._missing)(query)

    def do_POST(self) -> None:
        """Receive a webhook, or answer `/provider`."""
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if parts.path.startswith("/provider"):
            self._chatter(500, self.website.secrets["provider"])
            return
        name = parse_qs(parts.query).get("name", [""])[0]
        self.website.hooks[name].append(Hook(dict(self.headers.items()), body))
        statuses = self.website.statuses[name]
        status = statuses.pop(0) if statuses else 200
        if secret := self.website.secrets.get(name):
            self._chatter(status, secret)
        else:
            self._send(status, "text/plain", b"taken")

    def do_CONNECT(self) -> None:
        """Open a tunnel; later requests over the connection are answered as usual."""
        given = self.headers.get("Proxy-Authorization", "")
        self.website.tunnels.append(Tunnel(self.path, given))
        password = self.website.proxy_password
        if password and b64decode(given.removeprefix("Basic ")).decode() != f"spider:{password}":
            self._send(407, "text/plain", b"")
            return
        self.send_response(200)
        self.end_headers()
        self.close_connection = False

    def log_message(self, *_: Any) -> None:
        """Print no access log."""

    def _page(self, query: dict[str, str]) -> None:
        self._send(200, "text/html; charset=utf-8", _article(query["text"]))

    def _squares(self, _: dict[str, str]) -> None:
        self._send(200, "text/html", SQUARES)

    def _scripted(self, query: dict[str, str]) -> None:
        self._send(200, "text/html; charset=utf-8", _SHELL % json.dumps(query["text"]).encode())

    def _held(self, query: dict[str, str]) -> None:
        self.website.arrived.set()
        self.website.released.wait(60)
        self._page(query)

    def _once(self, query: dict[str, str]) -> None:
        if self.website.requests["/once"] == 1:
            self._missing(query)
        else:
            self._page(query)

    def _changing(self, _: dict[str, str]) -> None:
        if self.website.changing is None:
            self._send(410, "text/html", _article("gone"))
        else:
            self._send(200, "text/html; charset=utf-8", _article(self.website.changing))

    def _collinfo(self, _: dict[str, str]) -> None:
        listed = json.dumps([{"cdx-api": f"{self.website.url}/cdx"}]).encode()
        status = 503 if self.website.captures is None else 200
        self._send(status, "application/json", listed)

    def _cdx(self, _: dict[str, str]) -> None:
        lines = (
            json.dumps({"url": url, "timestamp": "20260101000000"})
            for url in self.website.captures or ()
        )
        self._send(200, "text/plain", "\n".join(lines).encode())

    def _now(self, query: dict[str, str]) -> None:
        self._send(self.website.now[query["name"]], "text/html", _article("how it is now"))

    def _moved(self, query: dict[str, str]) -> None:
        self._send(302, "text/plain", b"", Location=query["to"])

    def _type(self, query: dict[str, str]) -> None:
        self._send(200, query["is"], b"\x00" * 100)

    def _large(self, query: dict[str, str]) -> None:
        self._send(200, "text/html", b"x" * int(query["bytes"]))

    def _chatty(self, query: dict[str, str]) -> None:
        self._chatter(int(query["code"]), self.website.secrets[query["code"]])

    def _chatter(self, status: int, secret: str) -> None:
        """Send a response with the secret in each suitable header and in its body."""
        headers = {
            "Set-Cookie": f"session={secret}",
            "WWW-Authenticate": f"Bearer {secret}",
            "Retry-After": f"password={secret}",
            "X-Api-Key": secret,
        }
        body = f"Traceback: connect(password='{secret}') https://root:{secret}@db.example/"
        if status == 200 and self.command == "GET":  # a page's own text is its content
            body = _article("nothing secret").decode()
        kind = f'text/html; charset="{secret}"'
        self._send(status, kind, body.encode(), **headers)

    def _leak(self, query: dict[str, str]) -> None:
        """Redirect to a URL that contains a secret and can't be fetched."""
        secret = self.website.secrets[query["in"]]
        to = {
            "userinfo": f"http://root:{secret}@127.0.0.1:1/",
            "query": f"http://127.0.0.1:1/?password={secret}",
        }
        self._send(302, "text/plain", b"", Location=to[query["in"]])

    def _status(self, query: dict[str, str]) -> None:
        self._send(int(query["code"]), "text/html", _article("an error"))

    def _missing(self, query: dict[str, str]) -> None:
        self._send(404, "text/html", _article("nothing here"))

    def _send(self, status: int, kind: str, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        # The client may have closed the connection, as some tests require.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(body)


def _article(text: str) -> bytes:
    sentence = f"{text}. This paragraph tells more about {text}, at some length, for its readers."
    paragraphs = "".join(f"<p>{sentence}</p>" for _ in range(6))
    page = f"<html lang=en><title>{text}</title><body><article><h1>{text}</h1>{paragraphs}"
    return f"{page}</article></body></html>".encode()

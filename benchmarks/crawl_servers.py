"""Servers on loopback for the crawl benchmarks: websites, a quick embedder, moto."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import (
    BaseHTTPRequestHandler,
    HTTPServer,
    SimpleHTTPRequestHandler,
    ThreadingHTTPServer,
)
from pathlib import Path
from random import Random
from typing import Any, Final

import boto3
import requests

from benchmarks.capacity import Meter

DOCUMENTATION: Final = Path("/usr/share/doc/python3.11/html")
"""Folder of Debian's package python3.11-doc."""
LINKS: Final = 10
WORDS: Final = 300
DIMENSION: Final = 384  # as in the stack's own embedder
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_SYLLABLES: Final = ("sil", "ken", "or", "web", "thre", "ad", "spin", "lo", "om", "wea", "ver", "i")
_SERVICE: Final = re.compile(r"Credential=[^/]+/[^/]+/[^/]+/([^/]+)/")
_HOP: Final = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "x-amz-crc32"}
)


def page_of(number: int, pages: int) -> str:
    """Return a page with its own words, and links to the root and to its ten children in a tree."""
    random = Random(number)
    words = ["".join(random.choices(_SYLLABLES, k=random.randint(1, 4))) for _ in range(WORDS)]
    paragraphs = "".join(
        f"<h2>{' '.join(words[n : n + 3]).title()}</h2><p>{' '.join(words[n : n + 100])}.</p>"
        for n in range(0, WORDS, 100)
    )
    others = range(number * LINKS + 1, min(number * LINKS + 1 + LINKS, pages))
    links = "".join(f'<li><a href="/page/{n}">Page {n}</a></li>' for n in others)
    return (
        f'<!doctype html><html lang="en"><head><title>Page {number}</title></head><body>'
        f'<nav><a href="/">Start</a></nav><main><h1>Page {number}</h1>{paragraphs}</main>'
        f"<ul>{links}</ul></body></html>"
    )


@contextmanager
def generated(port: int, pages: int) -> Iterator[str]:
    """Serve a website with pages `/`, `/page/1` …; yield its URL without the last slash."""

    class Handler(_Quiet):
        def do_GET(self) -> None:
            last = self.path.rpartition("/")[2]
            number = 0 if self.path == "/" else int(last) if last.isdigit() else pages
            if number >= pages:
                self.answer(404, "text/plain", b"not here")
            else:
                self.answer(200, "text/html; charset=utf-8", page_of(number, pages).encode())

    with serving(ThreadingHTTPServer(("127.0.0.1", port), Handler)) as found:
        yield f"http://127.0.0.1:{found}"


@contextmanager
def documentation(port: int) -> Iterator[str]:
    """Serve Python's documentation; yield its URL without the last slash."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Log nothing."""

    handler = partial(Handler, directory=str(DOCUMENTATION))
    with serving(ThreadingHTTPServer(("127.0.0.1", port), handler)) as found:
        yield f"http://127.0.0.1:{found}"


@contextmanager
def quick_embedder() -> Iterator[str]:
    """Serve TEI's protocol with the hash of a text as its vector; yield the URL."""

    class Handler(_Quiet):
        def do_GET(self) -> None:
            facts = {
                "model_id": "quick",
                "max_input_length": 514,
                "max_client_batch_size": 32,
            }
            self.answer(200, "application/json", json.dumps(facts).encode())

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = asked["inputs"] if isinstance(asked["inputs"], list) else [asked["inputs"]]
            each = _tokens if self.path == "/tokenize" else _vector
            body = json.dumps([each(text) for text in texts]).encode()
            self.answer(200, "application/json", body)

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def moto_bridge() -> Iterator[str]:
    """Forward AWS requests of another process to the moto of this process; yield the URL.

    The server handles one request at a time, because moto isn't thread-safe. moto's mock must be
    active already. If a request asks for its capacity units, the server measures them
    (benchmarks/capacity.py).
    """
    meter = Meter(boto3.client("dynamodb"))

    class Handler(_Quiet):
        def hand_on(self) -> None:
            service = _SERVICE.search(self.headers.get("Authorization", ""))
            assert service is not None, self.path
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            asked = _metered(self.headers.get("X-Amz-Target", ""), body)
            former = meter.before(*asked) if asked else []
            given = {
                name: value for name, value in self.headers.items() if name.lower() not in _HOP
            }
            answer = requests.request(
                self.command,
                f"https://{service[1]}.us-east-1.amazonaws.com{self.path}",
                headers=given,
                data=body,
                timeout=60,
            )
            content = answer.content
            if asked and answer.ok:
                units = meter.units(*asked, answer.json(), former)
                content = json.dumps(answer.json() | _consumed(asked[0], units)).encode()
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                if name.lower() not in _HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Connection", "close")  # the next request may use another connection
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

    for method in ("GET", "POST", "PUT", "DELETE", "HEAD"):
        setattr(Handler, f"do_{method}", Handler.hand_on)
    with serving(HTTPServer(("127.0.0.1", 0), Handler)) as port:
        yield f"http://127.0.0.1:{port}"


def _metered(target: str, body: bytes) -> tuple[str, dict[str, Any]] | None:
    """Return operation and parameters of a DynamoDB request that asks for its units, else None."""
    if not target.startswith("DynamoDB_"):
        return None
    request = json.loads(body)
    return (target.partition(".")[2], request) if "ReturnConsumedCapacity" in request else None


def _consumed(operation: str, units: float) -> dict[str, Any]:
    """Return the units as a part of the response; calls of several items have a list by table."""
    of_all = {"TableName": "all", "CapacityUnits": units}
    several = operation.startswith(("Batch", "Transact"))
    return {"ConsumedCapacity": [of_all] if several else of_all}


class _Quiet(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status: int, media_type: str, body: bytes) -> None:
        """Send the whole response."""
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def serving(server: HTTPServer) -> Iterator[int]:
    """Run the server in a thread of its own, and yield its port."""
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _tokens(text: str) -> list[dict[str, Any]]:
    """Return the tokens of a text; `start` and `stop` count bytes, as in TEI."""
    found, at, byte = [], 0, 0
    for match in _TOKEN.finditer(text):
        byte += len(text[at : match.start()].encode())
        stop = byte + len(match[0].encode())
        found.append({"id": 1, "text": match[0], "special": False, "start": byte, "stop": stop})
        at, byte = match.end(), stop
    return found


def _vector(text: str) -> list[float]:
    seed = hashlib.shake_256(text.encode()).digest(DIMENSION)
    return [each / 255 - 0.5 for each in seed]

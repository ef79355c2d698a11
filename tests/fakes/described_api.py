"""An API that answers every documented route with values of the documented shapes.

Texts come in turn from a list, so a test can fill every field of every response with text that
attacks a page.
"""

import gzip
import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from spinneret.access.permissions import ROLE_PERMISSIONS, Role
from spinneret.kernel.errors import NotFound
from spinneret.runtime.console.site import ICON, PAGE, ConsoleSite
from tests.conftest import ROOT

_DOCUMENT: Final = ROOT / "layers" / "common" / "spinneret" / "runtime" / "openapi" / "openapi.json"
_TIME: Final = "2026-11-26T12:00:00.000000Z"
_TIMES: Final = re.compile(r"_(at|since|until|after)$")
Answer = tuple[int, Any]


@dataclass
class DescribedApi:
    """Responses of all routes, and the changes that a test makes to them."""

    texts: Sequence[str]
    role: Role = Role.ADMIN
    is_empty: bool = False
    """Whether all lists are empty."""
    scripted: list[Callable[[str, str], Answer | None]] = field(default_factory=list)
    """Functions of method and path; each returns a response, or None for the documented one."""
    asked: list[str] = field(default_factory=list)
    """Method and path of every request, in order."""

    def __post_init__(self) -> None:
        self._document = json.loads(_DOCUMENT.read_text())
        self._next = itertools.count()

    def answer(self, method: str, path: str) -> Answer:
        """Return the status and the body of a response."""
        self.asked.append(f"{method} {path}")
        for each in self.scripted:
            if (given := each(method, path)) is not None:
                return given
        return self.described(method, path)

    def described(self, method: str, path: str) -> Answer:
        """Return the documented response."""
        for template, methods in self._document["paths"].items():
            pattern = re.sub(r"\{[^}]+\}", "[^/]+", template)
            if method.lower() in methods and re.fullmatch(pattern, path):
                return self._success(methods[method.lower()], path)
        return 404, {"error": "no such route", "code": "NOT_FOUND", "details": {}}

    def _success(self, operation: Mapping[str, Any], path: str) -> Answer:
        status = min(each for each in operation["responses"] if each.startswith("2"))
        response = self._resolved(operation["responses"][status])
        content = response.get("content", {}).get("application/json")
        if content is None:
            return 204, None
        body = self._value(content["schema"])
        if path.endswith("/auth/me"):
            allowed = sorted(ROLE_PERMISSIONS[self.role])
            body |= {"kind": "user", "role": self.role, "permissions": allowed, "scopes": []}
        if "has_more" in body:
            body |= {"has_more": False, "next_cursor": None}
            if self.is_empty and "items" in body:
                body["items"] = []
        return int(status), body

    def _resolved(self, schema: Any) -> Any:
        while "$ref" in schema:
            _, _, kind, name = schema["$ref"].split("/")
            schema = self._document["components"][kind][name]
        return schema

    def _value(self, given: Any, name: str = "") -> Any:
        """Return a value of the schema; `name` is the name of its property."""
        schema = self._resolved(given)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][next(self._next) % len(schema["enum"])]
        if "anyOf" in schema:
            options = [each for each in schema["anyOf"] if each.get("type") != "null"]
            return self._value(options[0], name)
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema)
        if kind == "array":
            return [[2, 5]] if name == "highlights" else [self._value(schema["items"])] * 2
        plain = {"integer": 42, "number": 0.61, "boolean": True}
        return plain[kind] if kind in plain else self._text(name)

    def _object(self, schema: Any) -> dict[str, Any]:
        found = {key: self._value(each, key) for key, each in schema.get("properties", {}).items()}
        return found or {self._text(""): self._text(""), "error": self._text("")}

    def _text(self, name: str) -> str:
        if _TIMES.search(name):
            return _TIME
        number = next(self._next)
        if name.endswith("id"):
            return f"id_{number}"
        return self.texts[number % len(self.texts)]


@contextmanager
def console_on(api: DescribedApi, site: ConsoleSite) -> Iterator[str]:
    """Serve the console's files and the API on one origin; yield the address of the page."""
    handler = type("Handler", (_Handler,), {"api": api, "site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/stage/console/{PAGE}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    """Answers below the prefix `/stage`, like a stage of API Gateway."""

    protocol_version = "HTTP/1.1"
    api: DescribedApi
    site: ConsoleSite

    def handle_any(self) -> None:
        """Answer one request."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0].removeprefix("/stage")
        if path.startswith("/console/"):
            self._send_file(path.removeprefix("/console/"))
            return
        status, body = self.api.answer(self.command, path)
        text = "" if body is None else json.dumps(body)
        self._send(status, {"Content-Type": "application/json"}, text)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815 - http.server's names

    def log_message(self, *_: Any) -> None:
        """Write nothing."""

    def _send_file(self, name: str) -> None:
        try:
            if name in (PAGE, ICON):
                served = self.site.page if name == PAGE else self.site.icon
            else:
                served = self.site.part(*name.split("/", 1))
        except NotFound:
            self._send(404, {}, "")
            return
        self._send(200, {**served.headers, "Content-Type": served.content_type}, served.text)

    def _send(self, status: int, headers: Mapping[str, str], text: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        content = text.encode()
        if "gzip" in self.headers.get("Accept-Encoding", ""):  # as API Gateway does
            content = gzip.compress(content)
            self.send_header("Content-Encoding", "gzip")
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if status != 204:
            self.wfile.write(content)

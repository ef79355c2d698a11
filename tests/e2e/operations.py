"""The operations of the API's document, and requests that no client library normalizes."""

import http.client
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import pytest

from tests.conftest import ROOT

_DOCUMENT: Final = ROOT / "layers" / "common" / "spinneret" / "runtime" / "openapi" / "openapi.json"
_SECONDS: Final = 40.0


# Parameters that name objects of all tenants.
_SHARED: Final = {
    "{vocabulary}": "brands",
    "{marketplace}": "ebay",
    "{part_name}": "crawl.json",
}


@dataclass(frozen=True)
class Operation:
    """One operation, as the document describes it."""

    id: str
    method: str
    path: str
    scope: str | None
    """Scope that a key needs; None if the operation is open."""
    permission: str | None
    """Permission that every caller needs; None if the operation is open."""
    ticket: bool
    takes_body: bool
    parameters: tuple[str, ...]
    """Parameters of the path."""
    example: Mapping[str, Any]
    """An accepted body; empty if the document shows none."""
    answer: Mapping[str, Any]
    """Response to `example`; empty if the document shows none."""

    @property
    def area(self) -> str:
        """Return the area of the path, such as `targets` of `/v1/targets/{target_id}`."""
        return next(word for word in self.path.split("/") if word not in {"", "api", "v1"})

    def at(self, values: Mapping[str, str]) -> str:
        """Return the path with these parameters, without encoding them."""
        path = self.path
        for name in self.parameters:
            if name not in values:
                pytest.fail(f"nothing makes a {name}: add it to MAKERS")
            path = path.replace(f"{{{name}}}", values[name])
        return path


def _example(described: Mapping[str, Any]) -> Mapping[str, Any]:
    content = described.get("content", {}).get("application/json", {})
    shown: Mapping[str, Any] = next(iter(content.get("examples", {}).values()), {})
    return shown.get("value", {})


def _with_shared(path: str) -> str:
    for parameter, value in _SHARED.items():
        path = path.replace(parameter, value)
    return path


def _read() -> tuple[Operation, ...]:
    paths = json.loads(_DOCUMENT.read_text())["paths"]
    return tuple(
        Operation(
            id=operation["operationId"],
            method=method.upper(),
            path=_with_shared(path),
            scope=operation.get("x-scope"),
            permission=operation.get("x-permission"),
            ticket={"Ticket": []} in operation["security"],
            takes_body="requestBody" in operation,
            parameters=tuple(
                each["name"]
                for each in operation.get("parameters", ())
                if each.get("in") == "path" and f"{{{each['name']}}}" not in _SHARED
            ),
            example=_example(operation.get("requestBody", {})),
            answer=next(
                (
                    _example(answer)
                    for status, answer in operation["responses"].items()
                    if status < "300"
                ),
                {},
            ),
        )
        for path, methods in paths.items()
        for method, operation in methods.items()
    )


OPERATIONS: Final = _read()


@dataclass(frozen=True)
class Reply:
    """A response; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> Any:
        """Return the parsed body."""
        return json.loads(self.text)


class Wire:
    """Send paths and headers exactly as given, with one connection for each request."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        self._host, self._port = str(parts.hostname), parts.port
        self._prefix = parts.path

    def __call__(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
    ) -> Reply:
        """Send one request; a body is sent as JSON."""
        target = self._prefix + path + (f"?{urlencode(query)}" if query else "")
        content = None if body is None else json.dumps(body)
        typed = {} if body is None else {"Content-Type": "application/json"}
        connection = http.client.HTTPConnection(self._host, self._port, timeout=_SECONDS)
        try:
            connection.request(method, target, content, {**typed, **(headers or {})})
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
        finally:
            connection.close()
        return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, text)


def named(operation: Operation) -> str:
    """Return the name of an operation in the list of tests."""
    return f"{operation.method} {operation.path}"


def told(reply: Reply, ids: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Return status and body without the parts that differ between requests."""
    text = reply.text
    for name, value in (ids or {}).items():
        text = text.replace(value, name)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)
    return reply.status, re.sub(r'"request_id": *"[^"]*"', "", text)

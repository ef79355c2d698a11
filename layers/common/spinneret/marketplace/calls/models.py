"""Requests to a marketplace's API, and the responses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode


@dataclass(frozen=True, kw_only=True)
class MarketRequest:
    """One request to one of the marketplace's own hosts."""

    host: str
    """Key of the host in the stage's configuration, such as `ebay.api`."""
    method: str
    path: str
    """Path from the root, percent-encoded."""
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = field(default=None, repr=False)
    authorised: bool = True
    """Whether the request carries the seller's token."""
    as_application: bool = False
    """Whether it carries the application's own token instead, as public resources require."""

    @property
    def target(self) -> str:
        """Path and query string."""
        return self.path + (f"?{urlencode(self.query, doseq=True)}" if self.query else "")


@dataclass(frozen=True, kw_only=True)
class MarketAnswer:
    """Response of a marketplace, with any status."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def data(self) -> Any:
        """JSON of the body; {} if the body is empty or isn't JSON."""
        try:
            return json.loads(self.body) if self.body.strip() else {}
        except ValueError:
            return {}


def json_body(value: Any) -> tuple[bytes, Mapping[str, str]]:
    """Return the JSON body and its header."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode(), {"Content-Type": "application/json"}


def form_body(values: Mapping[str, Any]) -> tuple[bytes, Mapping[str, str]]:
    """Return the form body and its header; a list repeats its name (OpenAPI's style `form`,
    exploded)."""
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, list | tuple):
            pairs += [(name, str(each)) for each in value]
        elif isinstance(value, bool):
            pairs.append((name, "true" if value else "false"))
        elif value is not None:
            pairs.append((name, str(value)))
    header = {"Content-Type": "application/x-www-form-urlencoded"}
    return urlencode(pairs).encode(), header


def segment(text: str) -> str:
    """Quote a value as one segment of a path."""
    return quote(text, safe="")

"""Requests to a marketplace's API, and the responses."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from spinneret.kernel.errors import MarketplaceUnsettled


@dataclass(frozen=True, kw_only=True)
class MarketRequest:
    """One request to one of the marketplace's own hosts."""

    host: str
    """Key of the host in the stage's configuration, such as `ebay.api`."""
    method: str
    path: str
    """Path from the root, percent-encoded."""
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
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

    def read[T](self, shape: type[T]) -> T:
        """Return the JSON of a success. Raises MarketplaceUnsettled if it doesn't have the promised
        shape: whether the marketplace acted is then unknown."""
        try:
            return _validated(shape, self.body)
        except ValidationError as error:
            raise self.unfit() from error

    def read_error[T](self, shape: type[T]) -> T | None:
        """Return the JSON of an error; None if it doesn't have the shape."""
        try:
            return _validated(shape, self.body)
        except ValidationError:
            return None

    def unfit(self) -> MarketplaceUnsettled:
        """Build the exception for a response without its promised content."""
        message = f"the marketplace answered {self.status} without the promised content"
        return MarketplaceUnsettled(message, details={"status": self.status})


def _validated[T](shape: type[T], body: bytes) -> T:
    key: Any = shape
    adapter: TypeAdapter[T] = _adapter(key)
    return adapter.validate_json(body)


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def _id_text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value in ("", 0):
        raise ValueError("an id is a text or a number")
    return str(value)


Id = Annotated[str, BeforeValidator(_id_text)]
"""Id that a marketplace writes as a text or as a number."""


def json_body(value: Any) -> tuple[bytes, Mapping[str, str]]:
    """Return the JSON body and its header."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode(), {"Content-Type": "application/json"}


def form_body(values: Mapping[str, Any]) -> tuple[bytes, Mapping[str, str]]:
    """Return the form body and its header; a list is one value, separated by commas, since Etsy
    reads only the last value of a repeated name."""
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, list | tuple):
            pairs.append((name, ",".join(map(str, value))))
        elif isinstance(value, bool):
            pairs.append((name, "true" if value else "false"))
        elif value is not None:
            pairs.append((name, str(value)))
    header = {"Content-Type": "application/x-www-form-urlencoded"}
    return urlencode(pairs).encode(), header


def segment(text: str) -> str:
    """Quote a value as one segment of a path."""
    return quote(text, safe="")

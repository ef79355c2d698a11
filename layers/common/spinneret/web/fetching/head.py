"""The head of an answer: its fields, its length, and where it leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

from spinneret.kernel import bounds
from spinneret.kernel.errors import FetchFailed
from spinneret.web.fetching.urls import Url, join_url

Fields = Sequence[tuple[bytes, bytes]]

_REDIRECTS: Final = frozenset(
    {
        HTTPStatus.MOVED_PERMANENTLY,
        HTTPStatus.FOUND,
        HTTPStatus.SEE_OTHER,
        HTTPStatus.TEMPORARY_REDIRECT,
        HTTPStatus.PERMANENT_REDIRECT,
    }
)


def joined(fields: Fields, host: str) -> dict[str, str]:
    """By name in lower case, repeated ones joined by a comma.

    Raises FetchFailed, in the name of `host`, for more fields than we take.
    """
    if len(fields) > bounds.FETCH_MAX_HEADERS:
        raise FetchFailed(
            f"{host} sent more than {bounds.FETCH_MAX_HEADERS} header fields",
            details={"reason": "headers"},
        )
    values: dict[str, list[str]] = {}
    for name, value in fields:
        values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return {name: ", ".join(parts) for name, parts in values.items()}


def redirect_target(url: Url, status: int, fields: Fields) -> Url | None:
    """Where a redirect leads; None if the answer is none or its Location can't be followed."""
    if status not in _REDIRECTS:
        return None
    locations = {value for name, value in fields if name.lower() == b"location"}
    if len(locations) != 1:  # contradicting ones are refused, as browsers do
        return None
    location = locations.pop()
    try:
        return join_url(url, location.decode("utf-8"))
    except UnicodeDecodeError:
        return join_url(url, location.decode("latin-1"))


def declared_length(headers: Mapping[str, str]) -> int:
    """Content-Length in bytes; 0 where it is missing or malformed."""
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0

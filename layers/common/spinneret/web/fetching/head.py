"""Head of a response: its fields, length, and redirect target."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

from spinneret.kernel.errors import FetchFailed
from spinneret.web import limits
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
    """Return fields by name in lower case; repeated fields are joined by a comma.

    Raises FetchFailed, naming `host`, for more than FETCH_MAX_HEADERS fields.
    """
    if len(fields) > limits.FETCH_MAX_HEADERS:
        raise FetchFailed(
            f"{host} sent more than {limits.FETCH_MAX_HEADERS} header fields",
            details={"reason": "headers"},
        )
    values: dict[str, list[str]] = {}
    for name, value in fields:
        values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return {name: ", ".join(parts) for name, parts in values.items()}


def redirect_target(url: Url, status: int, fields: Fields) -> Url | None:
    """Return the target of a redirect, or None for another status or an unusable Location."""
    if status not in _REDIRECTS:
        return None
    locations = {value for name, value in fields if name.lower() == b"location"}
    if len(locations) != 1:  # contradicting ones are rejected, as in browsers
        return None
    location = locations.pop()
    try:
        return join_url(url, location.decode("utf-8"))
    except UnicodeDecodeError:
        return join_url(url, location.decode("latin-1"))


def declared_length(headers: Mapping[str, str]) -> int:
    """Return Content-Length in bytes, or 0 if it is missing or malformed."""
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0

"""Values of the fetch kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spinneret.kernel import limits


@dataclass(frozen=True, kw_only=True)
class FetchRequest:
    """One GET with its bounds; the bounds hold over all redirects together."""

    url: str
    max_bytes: int = limits.FETCH_MAX_BYTES
    max_redirects: int = limits.FETCH_MAX_REDIRECTS
    total_seconds: float = limits.FETCH_TOTAL_SECONDS
    read_seconds: float = limits.FETCH_READ_SECONDS
    media_types: frozenset[str] = frozenset()
    """Media types accepted, lower case; empty accepts all. Checked before the body is read."""


@dataclass(frozen=True, kw_only=True)
class FetchedPage:
    """An answer, decoded from its transfer and content encodings, not from its charset."""

    requested_url: str
    url: str
    status_code: int
    headers: Mapping[str, str] = field(repr=False)
    """Names in lower case; repeated fields joined by a comma."""
    media_type: str
    charset: str | None
    body: bytes = field(repr=False)
    redirects: tuple[str, ...]
    """Every URL that was left by a redirect, in order."""
    duration_ms: int

"""Values of the fetch kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from spinneret.kernel import bounds
from spinneret.web.fetching.urls import Url


@dataclass(frozen=True, kw_only=True)
class FetchRequest:
    """One request with its bounds; the bounds hold over all redirects together."""

    url: str
    method: str = "GET"
    """Redirects of another method aren't followed: they would change it (RFC 9110, 15.4)."""
    body: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """ASCII; sent to the origin of `url`, until a redirect first leads to another one: never to
    that, nor to the first again. Those of the fetcher come first."""
    follow_redirects: bool = True
    """False makes a redirect an answer like any other."""
    excerpt_bytes: int | None = None
    """Read no more than so many decoded bytes, of an answer of any status and type: what is beyond
    them, can't be decoded, or doesn't come in time is left out. None reads the body of a 2xx."""
    excerpt_is_vital: bool = False
    """A body that can't be decoded or doesn't come in time is an error though."""
    max_bytes: int = bounds.FETCH_MAX_BYTES
    max_redirects: int = bounds.FETCH_MAX_REDIRECTS
    total_seconds: float = bounds.FETCH_TOTAL_SECONDS
    read_seconds: float = bounds.FETCH_TOTAL_SECONDS  # F-01: both are 30 s
    media_types: frozenset[str] = frozenset()
    """Media types accepted, lower case; empty accepts all. Checked before the body is read."""
    before_redirect: Callable[[Url], None] | None = None
    """Asked before each redirect is followed; what it raises ends the fetch."""

    @property
    def is_followed(self) -> bool:
        """Whether a redirect leads on."""
        return self.follow_redirects and self.method == "GET"


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """An HTTP proxy that opens tunnels (CONNECT: RFC 9110, section 9.3.6)."""

    scheme: str
    """`http`, or `https` where the way to the proxy is encrypted too."""
    host: str
    port: int
    username: str | None = field(default=None, repr=False)
    """Without a colon (RFC 7617, section 2); None where the proxy wants no credentials."""
    password: str = field(default="", repr=False)


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

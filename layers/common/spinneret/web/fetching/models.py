"""Values of the fetch kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus

from spinneret.kernel import bounds
from spinneret.web.fetching.urls import Url


@dataclass(frozen=True, kw_only=True)
class Validators:
    """What an answer said to recognise its version by (RFC 9110, section 8.8).

    They are sent with a request for `url` only: another resource has its own. Raises ValueError for
    a value that no header can hold.
    """

    url: Url
    etag: str | None = None
    last_modified: str | None = None

    def __post_init__(self) -> None:
        for value in (self.etag, self.last_modified):
            if value is not None and not _is_field_value(value):
                raise ValueError("a validator isn't a field value")


def validators_of(url: Url, headers: Mapping[str, str]) -> Validators | None:
    """Those in the headers, in lower case, of an answer; None where there are none."""
    etag, date = (headers.get(name) or None for name in ("etag", "last-modified"))
    given = {name: value for name, value in (("etag", etag), ("last_modified", date)) if value}
    usable = {name: value for name, value in given.items() if _is_field_value(value)}
    return Validators(url=url, **usable) if usable else None


def _is_field_value(text: str) -> bool:
    """RFC 9110, section 5.5: no control characters; octets beyond ASCII as Latin-1."""
    return bool(text) and all(" " <= each <= "~" or "\xa0" <= each <= "\xff" for each in text)


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Facts of the server's certificate, which was verified."""

    subject: str
    """As `O=Example, CN=example.com`."""
    issuer: str
    names: tuple[str, ...]
    """Subject alternative names: hosts, patterns, addresses."""
    not_before: datetime
    not_after: datetime


@dataclass(frozen=True, kw_only=True)
class FetchRequest:
    """One request with its bounds; the bounds hold over all redirects together."""

    url: Url
    left: tuple[Url, ...] = ()
    """URLs that an earlier part of this fetch left by a redirect, the requested one first; they
    count as redirects, and `url` is where the last of them led."""
    method: str = "GET"
    """Redirects are followed for GET and HEAD: they would change others (RFC 9110, 15.4)."""
    body: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """ASCII; sent to the origin of the requested URL, until a redirect first leads to another one:
    never to that, nor to the first again. Those of the fetcher come first, but for Accept."""
    user_agent: str | None = None
    """Instead of the fetcher's own, at every hop; printable ASCII of the same product token."""
    validators: Validators | None = None
    """Make the request conditional: an unchanged page answers 304, without a body."""
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
    left_seconds: Callable[[], float] | None = None
    """What its caller has left, asked before a place at the host is taken and as the fetch begins:
    `total_seconds` is at most that, and CallerDeadlineExceeded reports its
    end. What it raises ends the fetch."""
    media_types: frozenset[str] = frozenset()
    """Media types accepted, lower case; empty accepts all. Checked before the body is read."""
    read_body: Callable[[Url, Iterator[bytes]], None] | None = None
    """Reads the decoded body of a 2xx while it arrives, so that it is never whole in memory: the
    answer's body is empty then, and what is left unread isn't asked for. The URL is the answer's.
    `max_bytes` ends it with BodyTooLarge where it is reached, whatever length was declared."""
    before_redirect: Callable[[Url], None] | None = None
    """Called before each redirect is followed; what it raises ends the fetch. Its time isn't the
    host's: REDIRECT_WAITS_SECONDS of it come on top of `total_seconds`."""
    saw_certificate: Callable[[Certificate], None] | None = None
    """Called with the certificate of each hop by TLS, when its head has come."""

    @property
    def requested(self) -> Url:
        """The URL that the fetch began with."""
        return self.left[0] if self.left else self.url

    @property
    def is_followed(self) -> bool:
        """Whether a redirect leads on."""
        return self.follow_redirects and self.method in {"GET", "HEAD"}


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
class Phases:
    """Durations of the last hop, in whole milliseconds; redirects before it are not included."""

    dns_ms: int
    """0 for an address."""
    connect_ms: int
    """TCP, including addresses that didn't answer; with a proxy, the whole tunnel."""
    tls_ms: int | None
    """None without TLS."""
    first_byte_ms: int
    """From the connection's readiness to the complete head of the answer."""
    transfer_ms: int
    """Of the body, decoding included."""


@dataclass(frozen=True, kw_only=True)
class FetchedPage:
    """An answer, decoded from its transfer and content encodings, not from its charset."""

    requested: Url
    url: Url
    status_code: int
    headers: Mapping[str, str] = field(repr=False)
    """Names in lower case; repeated fields joined by a comma."""
    media_type: str
    """Sniffed where the host declares none; empty then if there is no body either."""
    charset: str | None
    body: bytes = field(repr=False)
    redirects: tuple[str, ...]
    """Every URL that was left by a redirect, in order."""
    duration_ms: int
    """Of all hops of this request together, without what `before_redirect` took."""
    phases: Phases | None = None
    certificate: Certificate | None = None
    """Of the last hop; None without TLS."""

    @property
    def not_modified(self) -> bool:
        """The page is as it was when it gave the request's validators."""
        return self.status_code == HTTPStatus.NOT_MODIFIED

    @property
    def validators(self) -> Validators | None:
        """What makes the next request for this page conditional; None where the host gave none."""
        return validators_of(self.url, self.headers)

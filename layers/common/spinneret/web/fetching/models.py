"""Values of fetching."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus

from spinneret.kernel import bounds
from spinneret.web import limits
from spinneret.web.fetching.urls import Url


@dataclass(frozen=True, kw_only=True)
class Validators:
    """Validators of one version of a resource (RFC 9110, section 8.8).

    They are sent only with a request for `url`, since another resource has its own. Raises
    ValueError for a value that no header can hold.
    """

    url: Url
    etag: str | None = None
    last_modified: str | None = None

    def __post_init__(self) -> None:
        for value in (self.etag, self.last_modified):
            if value is not None and not _is_field_value(value):
                raise ValueError("a validator isn't a field value")


def validators_of(url: Url, headers: Mapping[str, str]) -> Validators | None:
    """Return the validators in a response's headers (lower-case names), or None."""
    etag, date = (headers.get(name) or None for name in ("etag", "last-modified"))
    given = {name: value for name, value in (("etag", etag), ("last_modified", date)) if value}
    usable = {name: value for name, value in given.items() if _is_field_value(value)}
    return Validators(url=url, **usable) if usable else None


def _is_field_value(text: str) -> bool:
    """Whether the text is a field value (RFC 9110, section 5.5).

    A field value has no control characters; octets beyond ASCII are Latin-1.
    """
    return bool(text) and all(" " <= each <= "~" or "\xa0" <= each <= "\xff" for each in text)


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Facts of the server's verified certificate."""

    subject: str
    """Distinguished name such as `O=Example, CN=example.com`."""
    issuer: str
    names: tuple[str, ...]
    """Subject alternative names: hosts, patterns, addresses."""
    not_before: datetime
    not_after: datetime


@dataclass(frozen=True, kw_only=True)
class FetchRequest:
    """One request with its bounds, which apply to all redirects together."""

    url: Url
    left: tuple[Url, ...] = ()
    """URLs that redirected in an earlier part of this fetch, the requested one first. They count as
    redirects, and `url` is the target of the last."""
    method: str = "GET"
    """Redirects are followed only for GET and HEAD; they would change others (RFC 9110, 15.4)."""
    body: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """ASCII; sent to the origin of the requested URL until a redirect leads to another origin. They
    are sent neither there nor to the first origin again. The fetcher's own headers win, except for
    Accept."""
    user_agent: str | None = None
    """Replaces the fetcher's own at every hop; printable ASCII with the same product token."""
    validators: Validators | None = None
    """Makes the request conditional: an unchanged page returns 304 without a body."""
    follow_redirects: bool = True
    """False returns a redirect like any other response."""
    excerpt_bytes: int | None = None
    """Maximum decoded bytes to read, for a response of any status and type. Bytes beyond it,
    undecodable bytes and late bytes are dropped. None reads the body of a 2xx."""
    excerpt_is_vital: bool = False
    """Whether a body that can't be decoded or arrives late still raises an error."""
    max_bytes: int = limits.FETCH_MAX_BYTES
    max_redirects: int = limits.FETCH_MAX_REDIRECTS
    total_seconds: float = bounds.FETCH_TOTAL_SECONDS
    read_seconds: float = bounds.FETCH_TOTAL_SECONDS  # F-01: both are 30 s
    left_seconds: Callable[[], float] | None = None
    """Returns the caller's remaining seconds; called before a slot at the host is taken and when
    the fetch begins. They bound `total_seconds`; CallerDeadlineExceeded reports that they ran
    out. An exception from the callable ends the fetch."""
    media_types: frozenset[str] = frozenset()
    """Accepted media types in lower case; empty accepts all. Checked before the body is read."""
    read_body: Callable[[Url, Iterator[bytes]], None] | None = None
    """Reads the decoded body of a 2xx while it arrives, so that it is never whole in memory. The
    page's body is then empty, and an unread rest isn't requested. The URL is the response's.
    Reaching `max_bytes` raises BodyTooLarge, regardless of the declared length."""
    before_redirect: Callable[[Url], None] | None = None
    """Called before each redirect is followed; an exception ends the fetch. Its time isn't the
    host's: up to REDIRECT_WAITS_SECONDS of it are added to `total_seconds`."""
    saw_certificate: Callable[[Certificate], None] | None = None
    """Called with the certificate of each TLS hop, after its head arrived."""

    @property
    def requested(self) -> Url:
        """URL with which the fetch began."""
        return self.left[0] if self.left else self.url

    @property
    def is_followed(self) -> bool:
        """Whether redirects are followed."""
        return self.follow_redirects and self.method in {"GET", "HEAD"}


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """An HTTP proxy that opens tunnels (CONNECT: RFC 9110, section 9.3.6)."""

    scheme: str
    """`http`, or `https` if the connection to the proxy is encrypted too."""
    host: str
    port: int
    username: str | None = field(default=None, repr=False)
    """User name without a colon (RFC 7617, section 2); None if the proxy needs no credentials."""
    password: str = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class Phases:
    """Durations of the last hop in whole milliseconds, without earlier redirects."""

    dns_ms: int
    """0 for an address."""
    connect_ms: int
    """TCP, including addresses that didn't answer; with a proxy, the whole tunnel."""
    tls_ms: int | None
    """None without TLS."""
    first_byte_ms: int
    """Time from the ready connection to the complete head of the response."""
    transfer_ms: int
    """Time of the body, including decoding."""


@dataclass(frozen=True, kw_only=True)
class FetchedPage:
    """A response, decoded from its transfer and content encodings but not from its charset."""

    requested: Url
    url: Url
    status_code: int
    headers: Mapping[str, str] = field(repr=False)
    """Names in lower case; repeated fields joined by a comma."""
    media_type: str
    """Sniffed if the host declares none; then empty if there is no body either."""
    charset: str | None
    body: bytes = field(repr=False)
    redirects: tuple[str, ...]
    """URLs that redirected, in order."""
    duration_ms: int
    """Duration of all hops of this request, without the time of `before_redirect`."""
    phases: Phases | None = None
    certificate: Certificate | None = None
    """Certificate of the last hop; None without TLS."""

    @property
    def not_modified(self) -> bool:
        """Whether the page is unchanged since it gave the request's validators."""
        return self.status_code == HTTPStatus.NOT_MODIFIED

    @property
    def validators(self) -> Validators | None:
        """Validators for a conditional request of this page; None if the host sent none."""
        return validators_of(self.url, self.headers)

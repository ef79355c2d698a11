"""URLs by the WHATWG standard: parsed once, afterwards only their parts are used."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import ada_url

from spinneret.kernel import bounds
from spinneret.kernel.errors import UrlInvalid, field_error
from spinneret.web.fetching.addresses import parse_address

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_ASCII_BLANKS: Final = " \t\n\f\r"
_MORE_THAN_A_HOST: Final = re.compile(r"[/?#@\\]")
# The standard drops tabs and newlines and encodes the rest. In a typed or listed URL each of them
# is a mistake or an attempt to hide a host.
_BLANK_OR_CONTROL: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028-\u202f\u3000]")


@dataclass(frozen=True)
class Url:
    """An absolute http(s) URL without credentials and fragment; all parts are ASCII."""

    scheme: str
    host: str
    """Lower case; IPv4 in dotted form, IPv6 compressed and without brackets."""
    port: int
    path: str
    query: str
    """Query without the question mark; an empty query means none."""

    @property
    def unusual_port(self) -> int | None:
        """The port, or None if it is the scheme's default."""
        return None if self.port == _DEFAULT_PORTS[self.scheme] else self.port

    @property
    def authority(self) -> str:
        """Value of the Host header; it has the port only if it isn't the scheme's default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.unusual_port is None else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme and authority."""
        return f"{self.scheme}://{self.authority}"

    @property
    def target(self) -> str:
        """Target of a request line."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def text(self) -> str:
        """The whole URL; parsing it again returns an equal value."""
        return self.origin + self.target


def parse_url(text: str) -> Url:
    """Parse a URL from a user or a file. Raises UrlInvalid, whose details name the reason.

    Blanks around the URL are ignored; inside it they are rejected.
    """
    trimmed = text.strip(_ASCII_BLANKS)
    if not trimmed:
        raise _invalid("is empty")
    if len(trimmed) > bounds.URL_MAX_CHARS:
        raise _too_long()
    if _BLANK_OR_CONTROL.search(trimmed):
        raise _invalid("contains blanks or control characters")
    try:
        return _checked(ada_url.URL(trimmed))
    except ValueError as error:
        raise _invalid("is not an absolute URL with a valid host") from error


def web_url(text: str) -> Url | None:
    """Parse a URL like `parse_url`; return None for any other text."""
    try:
        return parse_url(text)
    except UrlInvalid:
        return None


def bare_host(text: str) -> str:
    """Return a host that is given alone, in the form of `Url.host`; IPv6 may lack its brackets.

    Raises UrlInvalid, also for a host with a port.
    """
    bracketed = f"[{text}]" if ":" in text and not text.startswith("[") else text
    url = parse_url(f"http://{bracketed}/")
    if _MORE_THAN_A_HOST.search(text) or url.unusual_port is not None:
        raise _invalid("is more than a host")
    return url.host


def wanted_host(text: str) -> str:
    """Return the host that a filter names in the form of `Url.host`; other text fits no URL."""
    try:
        return bare_host(text)
    except UrlInvalid:
        return text.lower()


def join_url(base: Url, href: str) -> Url | None:
    """Resolve a link or Location on the page `base`; return None unless it may be fetched."""
    try:
        return _checked(ada_url.URL(href, base=base.text))
    except (ValueError, UrlInvalid):
        return None


def canonical_url(url: Url) -> Url:
    """Return the form that identifies a page.

    Scheme and host are in lower case; default port, fragment and one trailing slash are removed.
    Several trailing slashes are kept, since removing one would leave another for the next time.
    """
    trimmed = url.path.removesuffix("/")
    if not trimmed or trimmed.endswith("/"):
        return url
    return replace(url, path=trimmed)


def cache_url(url: Url) -> str:
    """Return the canonical URL with its parameters sorted by name: a key, never fetched.

    Equal names keep their order, since it may matter to the host; each parameter keeps its bytes.
    """
    url = canonical_url(url)
    parameters = [parameter for parameter in url.query.split("&") if parameter]
    parameters.sort(key=lambda parameter: parameter.partition("=")[0])
    return replace(url, query="&".join(parameters)).text


def registrable_domain(host: str) -> str:
    """Return the registrable part of a host (`a.b.co.uk` → `b.co.uk`), by the public-suffix list.

    Private suffixes count (`me.github.io` is a domain of its own). An address, a single label or a
    public suffix is returned unchanged.
    """
    name = host.removesuffix(".").lower()
    if parse_address(name) is not None or "." not in name:
        return name
    return _suffix_list()(name)


def _checked(parsed: ada_url.URL) -> Url:
    scheme = parsed.protocol.removesuffix(":")
    if scheme not in _DEFAULT_PORTS:
        raise _invalid("is not http or https")
    if parsed.username or parsed.password:
        raise _invalid("contains credentials")
    port = int(parsed.port) if parsed.port else _DEFAULT_PORTS[scheme]
    if port == 0:
        raise _invalid("names port 0")
    host = parsed.hostname.removeprefix("[").removesuffix("]")
    name = host.removesuffix(".")  # of the root
    if len(name) > bounds.HOST_NAME_MAX_CHARS:  # also keys of rows have bounds
        raise _invalid(f"has a host of more than {bounds.HOST_NAME_MAX_CHARS} characters")
    if not all(name.split(".")):  # no DNS name; without `www.` and dots it would be an empty key
        raise _invalid("has a host with an empty label")
    url = Url(
        scheme=scheme,
        host=host,
        port=port,
        path=parsed.pathname,
        query=parsed.search.removeprefix("?"),
    )
    if len(url.text) > bounds.URL_MAX_CHARS:  # encoding may have lengthened it
        raise _too_long()
    return url


def _invalid(reason: str) -> UrlInvalid:
    return UrlInvalid(
        f"the URL {reason}", details={"fields": [field_error("url", reason)], "reason": reason}
    )


def _too_long() -> UrlInvalid:
    return _invalid(f"is longer than {bounds.URL_MAX_CHARS} characters")


@cache
def _suffix_list() -> Callable[[str], str]:
    # Imported late: it takes longer to load than the rest of this package together.
    from tldextract import TLDExtract  # noqa: PLC0415 (import budget, see above)

    extract = TLDExtract(
        suffix_list_urls=(),  # the list inside the package; no download, no cache folder
        cache_dir=None,
        include_psl_private_domains=True,
    )

    def registrable(name: str) -> str:
        parts = extract.extract_str(name)
        if parts.suffix:
            return parts.top_domain_under_public_suffix or name
        # The list's last rule: an unknown top-level domain is a public suffix.
        return ".".join(name.split(".")[-2:])

    return registrable

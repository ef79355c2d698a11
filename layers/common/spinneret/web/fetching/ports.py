"""Ports of fetching: the fetcher for other packages, connections and name resolution."""

from typing import Protocol

from spinneret.web.fetching.models import FetchedPage, FetchRequest, Phases


class Fetcher(Protocol):
    """Fetches one page under the address rules."""

    def fetch(self, request: FetchRequest) -> FetchedPage:
        """Return the page, with any status code.

        Raises UrlInvalid, UrlBlocked, TooManyRedirects, BodyTooLarge, ContentRefused (media type),
        FetchTimeout, FetchFailed. The message of FetchFailed and FetchTimeout names the host of the
        URL, never an address or a port from a redirect or DNS answer. The details of FetchFailed
        give a `reason`: unknown_host, dns, connection, tls, protocol or headers.
        """


class Resolver(Protocol):
    """Name resolution; tests replace DNS through it."""

    def __call__(self, host: str, port: int) -> list[str]:
        """Return all addresses (IPv4 and IPv6 literals) of the host. Raises FetchFailed."""


class Connector(Protocol):
    """Opens connections under the address rules."""

    def connect(self, host: str, port: int, seconds: float) -> Phases:
        """Open a connection, close it, and return the times of its phases.

        Raises UrlBlocked, FetchTimeout and FetchFailed, whose reason is unknown_host, dns or
        connection.
        """


class RecordResolver(Protocol):
    """Asks the system's name servers for records."""

    def __call__(self, name: str, record_type: str, seconds: float) -> list[str]:
        """Return the values of all records of a type (A, AAAA, CNAME, MX, NS, TXT) of a name.

        Names are in lower case without the last dot; a mail server follows its preference, as in
        `10 mx.example.com`. No record of this type is an empty list. Raises FetchTimeout, and
        FetchFailed with the reason unknown_host or dns.
        """

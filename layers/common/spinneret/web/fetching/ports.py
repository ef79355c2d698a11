"""Ports of fetching: the fetcher for other packages, and name resolution."""

from typing import Protocol

from spinneret.web.fetching.models import FetchedPage, FetchRequest


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

"""Ports of crawling."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from spinneret.web.fetching.models import FetchedPage


@dataclass(frozen=True, kw_only=True)
class CachedPage:
    """A host's response; of its headers, only validators and X-Robots-Tag are stored."""

    page: FetchedPage
    fetched_at: datetime
    """Time when the host last sent or confirmed the page."""
    run: str
    """Job and run that requested the page at that time."""


class FetchCache(Protocol):
    """Pages by tenant and fingerprint of the request. All methods raise DependencyUnavailable.

    Entries are removed some time after a day; readers compare `fetched_at`.
    """

    def find(self, tenant: str, key: str) -> CachedPage | None:
        """Return the last stored page; None if there is none or it is unreadable."""

    def keep(self, tenant: str, key: str, kept: CachedPage) -> None:
        """Replace the page stored under the key."""


class PartStore(Protocol):
    """Parts of crawled pages stored next to their documents, and links to large content.

    All methods raise DependencyUnavailable.
    """

    def keep(self, tenant: str, document_id: str, parts: str) -> str:
        """Store a document's JSON; return its key, which is the same for the same text.

        It is removed with the document, or when neither the document nor a job refers to it.
        """

    def read(self, key: str) -> str | None:
        """Return the text stored under a key, also of a document; None if it is missing."""

    def link(self, key: str, seconds: int) -> str:
        """Return a URL that serves the object for `seconds`."""

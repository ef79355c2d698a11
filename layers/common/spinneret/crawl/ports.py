"""What crawling needs from outside."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from spinneret.web.fetching.models import FetchedPage


@dataclass(frozen=True, kw_only=True)
class CachedPage:
    """A page as a host answered it; of its headers the validators and X-Robots-Tag are kept."""

    page: FetchedPage
    fetched_at: datetime
    """When the host last said that the page is this one."""
    run: str
    """Which run of which job asked it then."""


class FetchCache(Protocol):
    """Pages by tenant and fingerprint of the request. All methods raise DependencyUnavailable.

    They are removed some time after a day; who reads one compares `fetched_at`.
    """

    def find(self, tenant: str, key: str) -> CachedPage | None:
        """The page that was kept last; None as well for one that can't be read any more."""
        ...

    def keep(self, tenant: str, key: str, kept: CachedPage) -> None:
        """Replace what is kept under the key."""
        ...


class PartStore(Protocol):
    """What is kept of a crawled page beside its document, and the way to what is too large to be
    shown. All methods raise DependencyUnavailable."""

    def keep(self, tenant: str, document_id: str, parts: str) -> str:
        """Store JSON of a document and answer its key, which is the same for the same text.

        It goes with the document, or when neither the document nor a job names it any more.
        """
        ...

    def read(self, key: str) -> str | None:
        """What is stored under a key, the text of a document too; None when it is gone."""
        ...

    def link(self, key: str, seconds: int) -> str:
        """A URL that serves it for so many seconds."""
        ...

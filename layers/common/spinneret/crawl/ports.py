"""What crawling needs from outside."""

from __future__ import annotations

from typing import Protocol


class PageStore(Protocol):
    """What is kept of a crawled page beside its document, and the way to what is too large to be
    shown. All methods raise DependencyUnavailable."""

    def keep(self, tenant: str, parts: str) -> str:
        """Store JSON and answer its key, which is the same for the same text."""
        ...

    def read(self, key: str) -> str | None:
        """What is stored under a key, the text of a document too; None when it is gone."""
        ...

    def link(self, key: str, seconds: int) -> str:
        """A URL that serves it for so many seconds."""
        ...

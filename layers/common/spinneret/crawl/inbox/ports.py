"""Ports of the inbox."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from spinneret.crawl.inbox.models import InboxFile


class InboxStore(Protocol):
    """Versioned bucket of the inbox. All methods raise DependencyUnavailable."""

    def form(self, key: str, *, seconds: int) -> tuple[str, Mapping[str, str]]:
        """Return URL and fields of a form that stores up to INBOX_MAX_BYTES bytes under the key."""

    def link(self, key: str, seconds: int) -> str:
        """Return a URL that serves an object for `seconds`."""

    def size(self, file: InboxFile) -> int:
        """Return the size in bytes. Raises NotFound."""

    def read(self, file: InboxFile, first: int, end: int) -> bytes:
        """Return the bytes from `first` up to, not including, `end`. Raises NotFound."""

    def keep(self, key: str, body: bytes) -> None:
        """Store or replace an object."""

    def kept(self, prefix: str) -> Iterator[bytes]:
        """Yield the objects below a prefix, sorted by key."""

    def report(self, file: InboxFile, lines: Iterable[bytes]) -> bool:
        """Store the report of this file version, in parts; return False if it already exists."""

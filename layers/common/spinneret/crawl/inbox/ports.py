"""What the inbox needs from outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from spinneret.crawl.inbox.models import InboxFile


class InboxStore(Protocol):
    """The bucket of the inbox, whose objects have versions. All methods raise
    DependencyUnavailable."""

    def form(self, key: str, *, seconds: int) -> tuple[str, Mapping[str, str]]:
        """URL and fields of a form that stores up to INBOX_MAX_BYTES bytes under the key."""
        ...

    def link(self, key: str, seconds: int) -> str:
        """A URL that serves an object for so many seconds."""
        ...

    def size(self, file: InboxFile) -> int:
        """In bytes. Raises NotFound."""
        ...

    def read(self, file: InboxFile, first: int, end: int) -> bytes:
        """The bytes from `first` up to, not including, `end`. Raises NotFound."""
        ...

    def keep(self, key: str, body: bytes) -> None:
        """Store an object, or replace it."""
        ...

    def kept(self, prefix: str) -> Iterator[bytes]:
        """The objects below a prefix, by their keys."""
        ...

    def report(self, file: InboxFile, lines: Iterable[bytes]) -> bool:
        """Store the report of this version of the file, piece by piece; False when it has one."""
        ...

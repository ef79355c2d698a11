"""What caches need from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from spinneret.content.caches.models import CacheCount, CacheKey, CacheName, Epochs, Read, Uses


class CacheStore(Protocol):
    """Entries of a tenant's caches. All methods raise DependencyUnavailable."""

    def read(self, tenant: str, keys: Sequence[CacheKey], now: datetime) -> Read:
        """What there is of the keys, at most 99; nothing that has expired or was cleared."""
        ...

    def write(
        self,
        tenant: str,
        entries: Mapping[CacheKey, bytes],
        epochs: Epochs,
        until: datetime,
    ) -> None:
        """Keep the entries until then; what is too large for the store isn't kept."""
        ...

    def lock(self, tenant: str, key: CacheKey, owner: str, now: datetime, until: datetime) -> bool:
        """Whether `owner` is the one to make the entry of a key; nobody else is until then."""
        ...

    def unlock(self, tenant: str, key: CacheKey, owner: str) -> None:
        """Let the next one make it."""
        ...

    def clear(self, tenant: str, caches: Sequence[CacheName]) -> None:
        """Forget all entries of these caches."""
        ...

    def count_uses(self, tenant: str, uses: Mapping[CacheName, Uses]) -> None:
        """Add to what `counts` answers."""
        ...

    def counts(self, tenant: str, now: datetime) -> tuple[CacheCount, ...]:
        """All caches in numbers, in the order of CacheName; eventually consistent."""
        ...


class PageCache(Protocol):
    """What crawls keep of their hosts' answers. All methods raise DependencyUnavailable."""

    def count(self, tenant: str) -> tuple[int, bool]:
        """How many pages there are, and whether these are all: at most 1000 are counted."""
        ...

    def clear(self, tenant: str) -> None:
        """Forget all pages."""
        ...

    def clear_host(self, tenant: str, host: str) -> None:
        """Forget the pages of one host."""
        ...

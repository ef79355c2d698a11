"""Ports of the caches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from spinneret.content.caches.models import CacheCount, CacheKey, CacheName, Epochs, Read, Uses


class CacheStore(Protocol):
    """Store of all tenants' cache entries. All methods raise DependencyUnavailable."""

    def read(self, tenant: str, keys: Sequence[CacheKey], now: datetime) -> Read:
        """Return the existing entries of up to 99 keys, without expired or cleared ones."""

    def write(
        self,
        tenant: str,
        entries: Mapping[CacheKey, bytes],
        epochs: Epochs,
        until: datetime,
    ) -> None:
        """Store entries until `until`; entries too large for the store are skipped."""

    def lock(self, tenant: str, key: CacheKey, owner: str, now: datetime, until: datetime) -> bool:
        """Lock the creation of an entry until `until`; return False if another owner has the
        lock."""

    def unlock(self, tenant: str, key: CacheKey, owner: str) -> None:
        """Release the lock; no-op if another owner has it."""

    def clear(self, tenant: str, caches: Sequence[CacheName]) -> None:
        """Clear these caches."""

    def count_uses(self, tenant: str, uses: Mapping[CacheName, Uses]) -> None:
        """Add hits and misses to the counters that `counts` returns."""

    def counts(self, tenant: str, now: datetime) -> tuple[CacheCount, ...]:
        """Return the counts of all caches in the order of CacheName (eventually consistent)."""


class PageCache(Protocol):
    """Pages that crawls cached for revalidation. All methods raise DependencyUnavailable."""

    def count(self, tenant: str) -> tuple[int, bool]:
        """Return the number of pages, at most 1000, and whether it is complete."""

    def clear(self, tenant: str) -> None:
        """Remove all pages of the tenant."""

    def clear_host(self, tenant: str, host: str) -> None:
        """Remove the pages of one host."""

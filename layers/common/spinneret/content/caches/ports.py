"""Ports of the caches."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Protocol

from spinneret.content.caches.models import (
    CacheKey,
    CacheName,
    DayOfUse,
    DaysOfUse,
    EntryLock,
    Epochs,
    NewEntry,
    Read,
)


class CacheStore(Protocol):
    """Store of all tenants' cache entries. All methods raise DependencyUnavailable."""

    def read(self, tenant: str, keys: Sequence[CacheKey], now: datetime) -> Read:
        """Return the existing entries of up to 99 keys, without expired or cleared ones."""

    def write(
        self, tenant: str, entries: Mapping[CacheKey, NewEntry], epochs: Epochs
    ) -> frozenset[CacheKey]:
        """Store entries over any existing ones and their locks.

        Return the keys of the stored ones: those too large for the store are skipped.
        """

    def lock(self, tenant: str, lock: EntryLock, now: datetime, until: datetime) -> bool:
        """Lock the creation of an entry until `until`.

        Return False if another owner has a lock of the same generation and epoch, or if the entry
        of both exists. A lock replaces any other entry.
        """

    def unlock(self, tenant: str, lock: EntryLock) -> None:
        """Release the lock; no-op if another owner has it, or if the entry exists."""

    def clear(self, tenant: str, caches: Sequence[CacheName]) -> None:
        """Clear these caches."""

    def count_uses(self, tenant: str, day: date, use: DayOfUse) -> None:
        """Add to a day's numbers, which are kept for USE_KEPT_DAYS."""

    def uses(self, tenant: str, days: Sequence[date]) -> DaysOfUse:
        """Return the numbers of up to 99 days; a day without any is missing."""

    def entries(self, tenant: str, now: datetime) -> dict[CacheName, tuple[int, bool]]:
        """Return the number of entries of each cache, and whether all were counted (eventually
        consistent)."""


class PageCache(Protocol):
    """Pages that crawls cached for revalidation. All methods raise DependencyUnavailable."""

    def count(self, tenant: str) -> tuple[int, bool]:
        """Return the number of pages, at most 1000, and whether it is complete."""

    def clear(self, tenant: str) -> None:
        """Remove all pages of the tenant."""

    def clear_host(self, tenant: str, host: str) -> None:
        """Remove the pages of one host."""

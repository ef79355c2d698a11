"""Reads, fills, clears and counts a tenant's caches.

An unavailable store never fails the caller: reads and writes then act as if the cache were empty.
Clearing and counting are use cases of their own and raise DependencyUnavailable.
"""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import timedelta
from typing import Final

from spinneret.content.caches import limits
from spinneret.content.caches.models import (
    CacheCount,
    CacheKey,
    CacheName,
    DayOfUse,
    EntryLock,
    Epochs,
    KnownVectors,
    NewEntry,
    Read,
    Uses,
)
from spinneret.content.caches.ports import CacheStore, PageCache
from spinneret.content.caches.use_counter import UseCounter
from spinneret.content.vectors import Vector, bytes_of, vector_of
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

Kept = Mapping[CacheName, float]
"""Retention in seconds by cache; 0 disables the cache."""

KEPT_SECONDS: Final[Kept] = {
    CacheName.CRAWL: bounds.RESULT_FRESH_SECONDS,
    CacheName.QUERY: limits.QUERY_CACHE_SECONDS,
    CacheName.QUERY_EMBEDDINGS: limits.QUERY_EMBEDDING_CACHE_SECONDS,
    CacheName.EMBEDDINGS: limits.EMBEDDING_CACHE_SECONDS,
}
_NOTHING: Final[Epochs] = dict.fromkeys(CacheName, -1)  # never matches a stored entry


@service
class Caches:
    """Caches of all tenants."""

    store: CacheStore
    clock: Clock
    kept: Kept = field(default_factory=lambda: KEPT_SECONDS)
    counter: UseCounter | None = None
    """The counter that all caches of the process share."""

    def __post_init__(self) -> None:
        self.uses = self.counter or UseCounter(self.store, self.clock)

    def read(self, tenant: str, keys: Sequence[CacheKey]) -> Read:
        """See CacheStore; return nothing if the store is unavailable or the cache is disabled."""
        kept = [key for key in keys if self.kept[key.cache]]
        if keys and not kept:  # without keys, the caller only needs the epochs
            return Read(entries={}, epochs=_NOTHING)
        try:
            found = self.store.read(tenant, kept, self.clock())
        except DependencyUnavailable:
            logger.warning("cache_not_read")
            return Read(entries={}, epochs=_NOTHING)
        return found

    def keeps(self, cache: CacheName, epochs: Epochs) -> bool:
        """Return whether entries of the cache are stored; not if it is disabled, or if the store
        was unavailable when the epochs were read."""
        return self.kept[cache] > 0 and epochs is not _NOTHING

    def keep(
        self,
        tenant: str,
        entries: Mapping[CacheKey, bytes],
        epochs: Epochs,
        generation: str = "",
    ) -> frozenset[CacheKey]:
        """Store entries for their cache's retention; return the keys of the stored ones.

        Disabled caches store nothing.
        """
        now = self.clock()
        kept = {
            key: NewEntry(
                value=value,
                until=now + timedelta(seconds=self.kept[key.cache]),
                generation=generation,
            )
            for key, value in entries.items()
            if self.keeps(key.cache, epochs)
        }
        if not kept:
            return frozenset()
        try:
            return self.store.write(tenant, kept, epochs)
        except DependencyUnavailable:
            logger.warning("cache_not_written")
            return frozenset()

    def lock(self, tenant: str, lock: EntryLock) -> bool:
        """Return whether the lock's owner may create the entry. Return True if the store is
        unavailable or the cache is disabled, since there is no entry to wait for."""
        if not self.kept[lock.key.cache]:
            return True
        now = self.clock()
        until = now + timedelta(seconds=limits.STAMPEDE_LOCK_SECONDS)
        try:
            return self.store.lock(tenant, lock, now, until)
        except DependencyUnavailable:
            return True

    def unlock(self, tenant: str, lock: EntryLock) -> None:
        """Release the lock; it expires by itself if the store is unavailable."""
        if not self.kept[lock.key.cache]:
            return
        try:
            self.store.unlock(tenant, lock)
        except DependencyUnavailable:
            logger.warning("cache_lock_left")

    def clear(self, tenant: str, *caches: CacheName) -> None:
        """Clear these caches; raise DependencyUnavailable."""
        self.store.clear(tenant, caches)

    def counts(self, tenant: str) -> tuple[CacheCount, ...]:
        """Return the counts of all caches; raise DependencyUnavailable."""
        now = self.clock()
        days = [now.date() - timedelta(days=n) for n in range(limits.USE_SHOWN_DAYS)]
        use = sum(self.uses.days(tenant, days).values(), DayOfUse())
        return tuple(
            CacheCount(
                cache=cache,
                entries=entries,
                complete=complete,
                hits=use.caches.get(cache, Uses()).hits,
                misses=use.caches.get(cache, Uses()).misses,
            )
            for cache, (entries, complete) in self.store.entries(tenant, now).items()
        )


@service
class CacheClearing:
    """Clears and counts a tenant's caches. All methods raise DependencyUnavailable."""

    caches: Caches
    pages: PageCache

    def clear(self, tenant: str, *caches: CacheName) -> None:
        """Clear these caches."""
        if CacheName.CRAWL in caches:
            self.pages.clear(tenant)
        rest = [each for each in caches if each is not CacheName.CRAWL]
        if rest:
            self.caches.clear(tenant, *rest)

    def clear_host(self, tenant: str, host: str) -> None:
        """Remove the pages of a host, and clear all search results, since they may contain it."""
        self.pages.clear_host(tenant, host)
        self.caches.clear(tenant, CacheName.QUERY)

    def counts(self, tenant: str) -> tuple[CacheCount, ...]:
        """Return the counts of all caches."""
        pages, complete = self.pages.count(tenant)
        return tuple(
            replace(each, entries=pages, complete=complete)
            if each.cache is CacheName.CRAWL
            else each
            for each in self.caches.counts(tenant)
        )


@service
class CachedVectors:
    """Implements VectorCache and caches query vectors, by model and text."""

    caches: Caches
    cache: CacheName = CacheName.EMBEDDINGS

    def find(self, tenant: str, model_id: str, texts: Sequence[str]) -> KnownVectors:
        """See VectorCache; reads once, and a write under the same epochs needs no further read."""
        keys = {text: vector_key(self.cache, model_id, text) for text in texts}
        read = self.caches.read(tenant, list(dict.fromkeys(keys.values())))
        found = {
            text: vector_of(read.entries[key]) for text, key in keys.items() if key in read.entries
        }
        self.caches.uses.used(tenant, self.cache, hits=len(found), misses=len(keys) - len(found))

        def keep(vectors: Mapping[str, Vector]) -> None:
            entries = {
                vector_key(self.cache, model_id, text): bytes_of(vector)
                for text, vector in vectors.items()
            }
            self.caches.keep(tenant, entries, read.epochs)

        return KnownVectors(found, keep)


def vector_key(cache: CacheName, model_id: str, text: str) -> CacheKey:
    """Return the cache key of a text's vector in the present encoding."""
    named = f"binary16\n{model_id}\n{text}".encode("utf-8", "surrogatepass")
    return CacheKey(cache, hashlib.sha256(named).hexdigest()[:32])

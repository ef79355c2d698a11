"""Reads, fills, clears and counts a tenant's caches.

An unavailable store never fails the caller: reads and writes then act as if the cache were empty.
Clearing and counting are use cases of their own and raise DependencyUnavailable.
"""

import hashlib
import logging
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from threading import Lock
from typing import Final

from spinneret.content.caches import limits
from spinneret.content.caches.models import (
    CacheCount,
    CacheKey,
    CacheName,
    EntryLock,
    Epochs,
    KnownVectors,
    NewEntry,
    Read,
    Uses,
    Vector,
)
from spinneret.content.caches.ports import CacheStore, PageCache
from spinneret.kernel import bounds, metrics
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


class Caches:
    """Caches of all tenants. Uses are counted in the process and stored from time to time, so the
    stored numbers are approximate."""

    def __init__(self, store: CacheStore, clock: Clock, kept: Kept = KEPT_SECONDS) -> None:
        self._store = store
        self._clock = clock
        self._kept = kept
        self._lock = Lock()
        self._uses: dict[tuple[str, CacheName], Uses] = {}

    def read(self, tenant: str, keys: Sequence[CacheKey]) -> Read:
        """See CacheStore; return nothing if the store is unavailable or the cache is disabled."""
        kept = [key for key in keys if self._kept[key.cache]]
        if keys and not kept:  # without keys, the caller only needs the epochs
            return Read(entries={}, epochs=_NOTHING)
        try:
            found = self._store.read(tenant, kept, self._clock())
        except DependencyUnavailable:
            logger.warning("cache_not_read")
            return Read(entries={}, epochs=_NOTHING)
        return found

    def keeps(self, cache: CacheName, epochs: Epochs) -> bool:
        """Return whether entries of the cache are stored; not if it is disabled, or if the store
        was unavailable when the epochs were read."""
        return self._kept[cache] > 0 and epochs is not _NOTHING

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
        now = self._clock()
        kept = {
            key: NewEntry(
                value=value,
                until=now + timedelta(seconds=self._kept[key.cache]),
                generation=generation,
            )
            for key, value in entries.items()
            if self.keeps(key.cache, epochs)
        }
        if not kept:
            return frozenset()
        try:
            return self._store.write(tenant, kept, epochs)
        except DependencyUnavailable:
            logger.warning("cache_not_written")
            return frozenset()

    def lock(self, tenant: str, lock: EntryLock) -> bool:
        """Return whether the lock's owner may create the entry. Return True if the store is
        unavailable or the cache is disabled, since there is no entry to wait for."""
        if not self._kept[lock.key.cache]:
            return True
        now = self._clock()
        until = now + timedelta(seconds=limits.STAMPEDE_LOCK_SECONDS)
        try:
            return self._store.lock(tenant, lock, now, until)
        except DependencyUnavailable:
            return True

    def unlock(self, tenant: str, lock: EntryLock) -> None:
        """Release the lock; it expires by itself if the store is unavailable."""
        if not self._kept[lock.key.cache]:
            return
        try:
            self._store.unlock(tenant, lock)
        except DependencyUnavailable:
            logger.warning("cache_lock_left")

    def used(self, tenant: str, cache: CacheName, *, hits: int, misses: int) -> None:
        """Count hits and misses; store them once enough have accumulated."""
        metrics.CACHE_HITS.add(hits, cache)
        metrics.CACHE_MISSES.add(misses, cache)
        with self._lock:
            so_far = self._uses.get((tenant, cache), Uses())
            now = Uses(hits=so_far.hits + hits, misses=so_far.misses + misses)
            self._uses[tenant, cache] = now
            held = sum(each.hits + each.misses for each in self._uses.values())
            if held < limits.CACHE_USES_HELD:
                return
        self.store_uses()

    def store_uses(self) -> None:
        """Store the accumulated counts."""
        with self._lock:
            held, self._uses = self._uses, {}
        for tenant in sorted({tenant for tenant, _ in held}):
            own = {cache: each for (whose, cache), each in held.items() if whose == tenant}
            try:
                self._store.count_uses(tenant, own)
            except DependencyUnavailable:
                logger.warning("cache_uses_not_counted")

    def clear(self, tenant: str, *caches: CacheName) -> None:
        """Clear these caches; raise DependencyUnavailable."""
        self._store.clear(tenant, caches)

    def counts(self, tenant: str) -> tuple[CacheCount, ...]:
        """Return the counts of all caches; raise DependencyUnavailable."""
        self.store_uses()
        return self._store.counts(tenant, self._clock())


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
        self.pages.clear_host(tenant, host.lower())
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
        self.caches.used(tenant, self.cache, hits=len(found), misses=len(keys) - len(found))

        def keep(vectors: Mapping[str, Vector]) -> None:
            entries = {
                vector_key(self.cache, model_id, text): bytes_of(vector)
                for text, vector in vectors.items()
            }
            self.caches.keep(tenant, entries, read.epochs)

        return KnownVectors(found, keep)


def vector_key(cache: CacheName, model_id: str, text: str) -> CacheKey:
    """Return the cache key of a text's vector."""
    named = f"{model_id}\n{text}".encode("utf-8", "surrogatepass")
    return CacheKey(cache, hashlib.sha256(named).hexdigest()[:32])


def bytes_of(vector: Sequence[float]) -> bytes:
    """Encode a vector as 4-byte floats, the precision that the index keeps."""
    return array("f", vector).tobytes()


def vector_of(value: bytes) -> Vector:
    """Decode a vector (single precision)."""
    numbers = array("f")
    numbers.frombytes(value)
    return tuple(numbers)

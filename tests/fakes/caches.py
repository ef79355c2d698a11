"""The cache store in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from threading import Lock

from spinneret.content.caches.models import CacheCount, CacheKey, CacheName, Epochs, Read, Uses
from spinneret.kernel.errors import DependencyUnavailable

_LARGEST = 350 * 1024


class FakeCacheStore:
    """Implements CacheStore; can be told to be down."""

    def __init__(self) -> None:
        self.available = True
        self._mutex = Lock()
        self._entries: dict[tuple[str, CacheKey], tuple[bytes, int, datetime]] = {}
        self._locks: dict[tuple[str, CacheKey], tuple[str, datetime]] = {}
        self._epochs: dict[tuple[str, CacheName], int] = {}
        self._uses: dict[tuple[str, CacheName], Uses] = {}

    def read(self, tenant: str, keys: Sequence[CacheKey], now: datetime) -> Read:
        self._require()
        if len(keys) > 99:
            raise ValueError("at most 99 keys")
        with self._mutex:
            return Read(
                entries={
                    key: self._entries[tenant, key][0]
                    for key in keys
                    if self._lives(tenant, key, now)
                },
                epochs={each: self._epochs.get((tenant, each), 0) for each in CacheName},
            )

    def write(
        self, tenant: str, entries: Mapping[CacheKey, bytes], epochs: Epochs, until: datetime
    ) -> None:
        self._require()
        with self._mutex:
            for key, value in entries.items():
                if len(value) <= _LARGEST:
                    self._entries[tenant, key] = (value, epochs[key.cache], until)

    def lock(self, tenant: str, key: CacheKey, owner: str, now: datetime, until: datetime) -> bool:
        self._require()
        with self._mutex:
            holder, end = self._locks.get((tenant, key), (owner, now))
            if holder != owner and end > now:
                return False
            self._locks[tenant, key] = (owner, until)
            return True

    def unlock(self, tenant: str, key: CacheKey, owner: str) -> None:
        self._require()
        with self._mutex:
            if self._locks.get((tenant, key), ("", None))[0] == owner:
                del self._locks[tenant, key]

    def clear(self, tenant: str, caches: Sequence[CacheName]) -> None:
        self._require()
        with self._mutex:
            for each in caches:
                self._epochs[tenant, each] = self._epochs.get((tenant, each), 0) + 1

    def count_uses(self, tenant: str, uses: Mapping[CacheName, Uses]) -> None:
        self._require()
        with self._mutex:
            for cache, each in uses.items():
                so_far = self._uses.get((tenant, cache), Uses())
                self._uses[tenant, cache] = Uses(
                    hits=so_far.hits + each.hits, misses=so_far.misses + each.misses
                )

    def counts(self, tenant: str, now: datetime) -> tuple[CacheCount, ...]:
        self._require()
        with self._mutex:
            found = []
            for cache in CacheName:
                own = [key for owner, key in self._entries if (owner, key.cache) == (tenant, cache)]
                uses = self._uses.get((tenant, cache), Uses())
                found.append(
                    CacheCount(
                        cache=cache,
                        entries=sum(self._lives(tenant, key, now) for key in own),
                        complete=True,
                        hits=uses.hits,
                        misses=uses.misses,
                    )
                )
            return tuple(found)

    def _lives(self, tenant: str, key: CacheKey, now: datetime) -> bool:
        held = self._entries.get((tenant, key))
        return (
            held is not None
            and held[1] == self._epochs.get((tenant, key.cache), 0)
            and held[2] > now
        )

    def _require(self) -> None:
        if not self.available:
            raise DependencyUnavailable("dynamodb")


class FakePageCache:
    """Implements PageCache; pages by host."""

    def __init__(self) -> None:
        self.pages: dict[tuple[str, str], int] = {}

    def count(self, tenant: str) -> tuple[int, bool]:
        return sum(n for (owner, _), n in self.pages.items() if owner == tenant), True

    def clear(self, tenant: str) -> None:
        self.pages = {key: n for key, n in self.pages.items() if key[0] != tenant}

    def clear_host(self, tenant: str, host: str) -> None:
        self.pages.pop((tenant, host), None)

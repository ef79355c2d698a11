"""The cache store in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from threading import Lock

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
from tests.fakes.dependency import FakeDependency

_LARGEST = 350 * 1024


@dataclass(frozen=True)
class _Item:
    """A cached value, or the lock of its owner if there is no value."""

    value: bytes | None
    owner: str
    generation: str
    epoch: int
    until: datetime


class FakeCacheStore(FakeDependency):
    """Implements CacheStore."""

    def __init__(self) -> None:
        self._mutex = Lock()
        self._items: dict[tuple[str, CacheKey], _Item] = {}
        self._epochs: dict[tuple[str, CacheName], int] = {}
        self._uses: dict[tuple[str, date], DayOfUse] = {}

    def read(self, tenant: str, keys: Sequence[CacheKey], now: datetime) -> Read:
        self._require()
        if len(keys) > 99:
            raise ValueError("at most 99 keys")
        with self._mutex:
            found = {key: self._items[tenant, key] for key in keys if self._lives(tenant, key, now)}
            return Read(
                entries={k: each.value for k, each in found.items() if each.value is not None},
                epochs={each: self._epochs.get((tenant, each), 0) for each in CacheName},
                generations={key: each.generation for key, each in found.items()},
                locked=frozenset(key for key, each in found.items() if each.value is None),
            )

    def write(
        self, tenant: str, entries: Mapping[CacheKey, NewEntry], epochs: Epochs
    ) -> frozenset[CacheKey]:
        self._require()
        small = {k: each for k, each in entries.items() if len(each.value) <= _LARGEST}
        with self._mutex:
            for key, each in small.items():
                self._items[tenant, key] = _Item(
                    each.value, "", each.generation, epochs[key.cache], each.until
                )
        return frozenset(small)

    def lock(self, tenant: str, lock: EntryLock, now: datetime, until: datetime) -> bool:
        self._require()
        with self._mutex:
            held = self._items.get((tenant, lock.key))
            if (
                held is not None
                and held.until > now
                and held.owner != lock.owner
                and (held.generation, held.epoch) == (lock.generation, lock.epoch)
            ):
                return False
            self._items[tenant, lock.key] = _Item(
                None, lock.owner, lock.generation, lock.epoch, until
            )
            return True

    def unlock(self, tenant: str, lock: EntryLock) -> None:
        self._require()
        with self._mutex:
            held = self._items.get((tenant, lock.key))
            if held is not None and held.owner == lock.owner:
                del self._items[tenant, lock.key]

    def forget_locks(self) -> None:
        """Remove all locks, as if their owners had released them."""
        self._items = {key: each for key, each in self._items.items() if each.value is not None}

    def clear(self, tenant: str, caches: Sequence[CacheName]) -> None:
        self._require()
        with self._mutex:
            for each in caches:
                self._epochs[tenant, each] = self._epochs.get((tenant, each), 0) + 1

    def count_uses(self, tenant: str, day: date, use: DayOfUse) -> None:
        self._require()
        with self._mutex:
            self._uses[tenant, day] = self._uses.get((tenant, day), DayOfUse()) + use

    def uses(self, tenant: str, days: Sequence[date]) -> DaysOfUse:
        self._require()
        if len(days) > 99:
            raise ValueError("at most 99 days")
        with self._mutex:
            return {day: self._uses[tenant, day] for day in days if (tenant, day) in self._uses}

    def entries(self, tenant: str, now: datetime) -> dict[CacheName, tuple[int, bool]]:
        self._require()
        with self._mutex:
            held = [
                key.cache
                for (owner, key), each in self._items.items()
                if owner == tenant and each.value is not None and self._lives(tenant, key, now)
            ]
            return {cache: (held.count(cache), True) for cache in CacheName}

    def _lives(self, tenant: str, key: CacheKey, now: datetime) -> bool:
        held = self._items.get((tenant, key))
        return (
            held is not None
            and held.epoch == self._epochs.get((tenant, key.cache), 0)
            and held.until > now
        )


class FakePageCache:
    """Implements PageCache; counts pages by tenant and host."""

    def __init__(self) -> None:
        self.pages: dict[tuple[str, str], int] = {}

    def count(self, tenant: str) -> tuple[int, bool]:
        return sum(n for (owner, _), n in self.pages.items() if owner == tenant), True

    def clear(self, tenant: str) -> None:
        self.pages = {key: n for key, n in self.pages.items() if key[0] != tenant}

    def clear_host(self, tenant: str, host: str) -> None:
        self.pages.pop((tenant, host), None)

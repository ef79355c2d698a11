"""Cached vectors of chunks."""

from collections.abc import Sequence
from datetime import datetime

from spinneret.content.caches.models import CacheKey, CacheName, Read
from spinneret.content.caches.service import CachedVectors, Caches
from tests.factories import TENANT
from tests.fakes.caches import FakeCacheStore
from tests.fakes.time import HandClock

VECTOR = (0.5, 0.25)


class CountedStore(FakeCacheStore):
    """A cache store that counts its reads."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    def read(self, tenant: str, keys: Sequence[CacheKey], now: datetime) -> Read:
        self.reads += 1
        return super().read(tenant, keys, now)


def test_vectors_are_looked_up_and_kept_by_one_read() -> None:
    store = CountedStore()
    vectors = CachedVectors(caches=Caches(store=store, clock=HandClock()))
    found = vectors.find(TENANT, "model", ["silk"])
    found.keep({"silk": VECTOR})
    assert (found.vectors, store.reads) == ({}, 1)
    assert vectors.find(TENANT, "model", ["silk", "web"]).vectors == {"silk": VECTOR}


def test_vectors_that_were_looked_up_before_the_cache_was_cleared_are_not_kept() -> None:
    caches = Caches(store=FakeCacheStore(), clock=HandClock())
    vectors = CachedVectors(caches=caches)
    found = vectors.find(TENANT, "model", ["silk"])
    caches.clear(TENANT, CacheName.EMBEDDINGS)
    found.keep({"silk": VECTOR})
    assert vectors.find(TENANT, "model", ["silk"]).vectors == {}

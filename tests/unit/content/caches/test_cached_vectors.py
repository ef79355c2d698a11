"""Vectors of chunks in the cache."""

import math
from collections.abc import Sequence
from datetime import datetime
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from spinneret.content.caches.models import CacheKey, CacheName, Read
from spinneret.content.caches.service import CachedVectors, Caches, bytes_of, vector_of
from spinneret.content.search.tei_protocol import unit
from tests.factories import TENANT
from tests.fakes.caches import FakeCacheStore
from tests.fakes.time import HandClock

VECTOR = (0.5, 0.25)


class CountedStore(FakeCacheStore):
    """Counts reads."""

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


@given(st.integers(0), st.sampled_from([3, 384, 1024]))
def test_a_cached_vector_has_half_the_bytes_and_almost_the_same_cosines(
    seed: int, dimension: int
) -> None:
    random = Random(seed)
    vector, query = (_random_unit(random, dimension) for _ in range(2))
    cached = vector_of(bytes_of(vector))
    assert len(bytes_of(vector)) == 2 * dimension
    assert math.isclose(math.sumprod(vector, query), math.sumprod(cached, query), abs_tol=0.0005)
    assert vector_of(bytes_of(cached)) == cached


def _random_unit(random: Random, dimension: int) -> Sequence[float]:
    return unit([random.gauss() for _ in range(dimension)], dimension)

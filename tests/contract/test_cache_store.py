"""Contract tests of cache stores: the fake, moto, and DynamoDB Local."""

from datetime import timedelta
from typing import Any

import pytest

from spinneret.content.caches.dynamo import DynamoCacheStore
from spinneret.content.caches.models import CacheKey, CacheName, DayOfUse, EntryLock, NewEntry, Uses
from spinneret.content.caches.ports import CacheStore
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.caches import FakeCacheStore
from tests.fakes.time import START

pytestmark = OF_AWS

QUERY, OTHER = CacheKey(CacheName.QUERY, "a" * 32), CacheKey(CacheName.QUERY, "b" * 32)
VECTOR = CacheKey(CacheName.EMBEDDINGS, "a" * 32)
HOUR = timedelta(hours=1)


@pytest.fixture
def caches(tables: Tables | None) -> CacheStore:
    if tables is None:
        return FakeCacheStore()
    return DynamoCacheStore(tables.client, tables.names["Caches"])


def keep(caches: CacheStore, tenant: str, *keys: CacheKey, value: bytes = b"x") -> None:
    epochs = caches.read(tenant, [], START).epochs
    caches.write(tenant, dict.fromkeys(keys, entry(value)), epochs)


def entry(value: bytes = b"x", generation: str = "") -> NewEntry:
    return NewEntry(value=value, until=START + HOUR, generation=generation)


def lock(owner: str, key: CacheKey = QUERY, generation: str = "1", epoch: int = 0) -> EntryLock:
    return EntryLock(key=key, owner=owner, generation=generation, epoch=epoch)


# covers P-14
def test_what_was_kept_is_read_until_it_expires(caches: CacheStore, tenant: str) -> None:
    value = bytes(range(256)) * 100
    keep(caches, tenant, QUERY, VECTOR, value=value)
    keys = [QUERY, OTHER, VECTOR]
    assert caches.read(tenant, keys, START).entries == {QUERY: value, VECTOR: value}
    late = START + HOUR
    assert caches.read(tenant, keys, late - timedelta(seconds=1)).entries.keys() == {QUERY, VECTOR}
    assert caches.read(tenant, keys, late).entries == {}


def test_another_tenant_has_other_entries(caches: CacheStore, tenant: str) -> None:
    keep(caches, tenant, QUERY)
    assert caches.read(f"{tenant}x", [QUERY], START).entries == {}


def test_a_cleared_cache_is_empty_and_the_others_are_not(caches: CacheStore, tenant: str) -> None:
    keep(caches, tenant, QUERY, VECTOR)
    caches.clear(tenant, [CacheName.QUERY])
    assert caches.read(tenant, [QUERY, VECTOR], START).entries == {VECTOR: b"x"}
    keep(caches, tenant, QUERY, value=b"new")
    assert caches.read(tenant, [QUERY], START).entries == {QUERY: b"new"}


def test_what_was_made_before_a_clearing_is_not_read_after_it(
    caches: CacheStore, tenant: str
) -> None:
    before = caches.read(tenant, [QUERY], START).epochs
    caches.clear(tenant, list(CacheName))
    caches.write(tenant, {QUERY: entry(b"old")}, before)
    assert caches.read(tenant, [QUERY], START).entries == {}


def test_many_entries_are_kept_and_what_is_too_large_is_not(
    caches: CacheStore, tenant: str
) -> None:
    keys = [CacheKey(CacheName.EMBEDDINGS, f"{n:032x}") for n in range(60)]
    keep(caches, tenant, *keys)
    epochs = caches.read(tenant, [], START).epochs
    given = {QUERY: entry(b"x" * 400_000), OTHER: entry()}
    assert caches.write(tenant, given, epochs) == {OTHER}
    assert set(caches.read(tenant, [*keys, QUERY], START).entries) == set(keys)


def test_one_at_a_time_makes_an_entry(caches: CacheStore, tenant: str) -> None:
    until = START + timedelta(seconds=30)
    assert caches.lock(tenant, lock("one"), START, until)
    assert caches.lock(tenant, lock("one"), START, until)
    assert not caches.lock(tenant, lock("two"), START, until)
    assert caches.lock(tenant, lock("two", OTHER), START, until)
    caches.unlock(tenant, lock("two"))
    assert not caches.lock(tenant, lock("two"), START, until)
    caches.unlock(tenant, lock("one"))
    caches.unlock(tenant, lock("one"))
    assert caches.lock(tenant, lock("two"), START, until)
    assert caches.lock(tenant, lock("three"), until, until + HOUR)


def test_a_lock_is_read_as_such_until_its_entry_replaces_it(
    caches: CacheStore, tenant: str
) -> None:
    until = START + timedelta(seconds=30)
    caches.lock(tenant, lock("one", generation="7"), START, until)
    read = caches.read(tenant, [QUERY], START)
    assert (read.entries, read.locked, read.generations) == ({}, {QUERY}, {QUERY: "7"})
    assert caches.read(tenant, [QUERY], until).locked == frozenset()
    caches.write(tenant, {QUERY: entry(generation="7")}, read.epochs)
    caches.unlock(tenant, lock("one", generation="7"))
    read = caches.read(tenant, [QUERY], START)
    assert (read.entries, read.locked, read.generations) == (
        {QUERY: b"x"},
        frozenset(),
        {QUERY: "7"},
    )


@pytest.mark.parametrize("other", [{"generation": "2"}, {"epoch": 1}])
def test_a_lock_of_another_generation_or_epoch_replaces_entry_and_lock(
    caches: CacheStore, tenant: str, other: dict[str, Any]
) -> None:
    until = START + timedelta(seconds=30)
    epochs = caches.read(tenant, [], START).epochs
    caches.write(tenant, {QUERY: entry(generation="1")}, epochs)
    assert not caches.lock(tenant, lock("one"), START, until)
    assert caches.lock(tenant, lock("one", **other), START, until)
    assert caches.read(tenant, [QUERY], START).entries == {}
    assert caches.lock(tenant, lock("two"), START, until)
    caches.unlock(tenant, lock("one", **other))
    assert not caches.lock(tenant, lock("three"), START, until)


# covers P-13
def test_numbers_of_a_day_are_added(caches: CacheStore, tenant: str) -> None:
    today, before = START.date(), START.date() - timedelta(days=1)
    first = DayOfUse(
        searches=2,
        caches={CacheName.QUERY: Uses(hits=2, misses=1)},
        search_ms={50: 2},
        embedding_ms={30: 1},
    )
    second = DayOfUse(
        searches=1, caches={CacheName.EMBEDDINGS: Uses(misses=4)}, search_ms={50: 1, 60: 1}
    )
    caches.count_uses(tenant, today, first)
    caches.count_uses(tenant, today, second)
    caches.count_uses(tenant, before, second)
    caches.count_uses(f"{tenant}x", today, first)
    assert caches.uses(tenant, [today, before, before - timedelta(days=1)]) == {
        today: DayOfUse(
            searches=3,
            caches={
                CacheName.QUERY: Uses(hits=2, misses=1),
                CacheName.EMBEDDINGS: Uses(hits=0, misses=4),
            },
            search_ms={50: 3, 60: 1},
            embedding_ms={30: 1},
        ),
        before: second,
    }


def test_entries_are_counted_until_they_expire_or_are_cleared(
    caches: CacheStore, tenant: str
) -> None:
    keep(caches, tenant, QUERY, OTHER, VECTOR)
    assert caches.entries(tenant, START) == {
        CacheName.CRAWL: (0, True),
        CacheName.QUERY: (2, True),
        CacheName.QUERY_EMBEDDINGS: (0, True),
        CacheName.EMBEDDINGS: (1, True),
    }
    caches.clear(tenant, [CacheName.QUERY])
    assert caches.entries(tenant, START)[CacheName.QUERY] == (0, True)
    assert caches.entries(tenant, START + HOUR)[CacheName.EMBEDDINGS] == (0, True)

"""Caches through their API routes."""

import pytest

from search.caches_routes import router
from spinneret.content.caches.models import CacheKey, CacheName
from spinneret.content.caches.service import CacheClearing, Caches
from tests.factories import TENANT
from tests.fakes.caches import FakeCacheStore, FakePageCache
from tests.fakes.time import HandClock
from tests.unit.served import Served

PATH = "/api/v1/cache"


class Kept:
    """One entry in every cache for two tenants, and cached pages of two hosts."""

    def __init__(self) -> None:
        self.pages = FakePageCache()
        self.caches = Caches(store=FakeCacheStore(), clock=HandClock())
        self.api = Served(router, CacheClearing(caches=self.caches, pages=self.pages))
        for tenant in (TENANT, "globex"):
            self.pages.pages |= {(tenant, "a.example"): 2, (tenant, "b.example"): 1}
            entries = {CacheKey(each, "0" * 32): b"x" for each in CacheName}
            del entries[CacheKey(CacheName.CRAWL, "0" * 32)]
            self.caches.keep(tenant, entries, self.caches.read(tenant, []).epochs)
            self.caches.uses.used(tenant, CacheName.QUERY, hits=3, misses=1)

    def entries(self, tenant: str = TENANT) -> dict[str, int]:
        stats = self.api.send("GET", f"{PATH}/stats", tenant=tenant).body
        return {name: each["entries"] for name, each in stats.items()}


ALL = {"crawl": 3, "query": 1, "query_embeddings": 1, "embeddings": 1}


# covers S-05
@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("crawl", {"crawl": 0}),
        ("query", {"query": 0}),
        ("embeddings", {"query_embeddings": 0, "embeddings": 0}),
        ("domain/A.example", {"crawl": 1, "query": 0}),
        ("domain/other.example", {"query": 0}),
    ],
)
def test_a_cache_is_cleared_for_its_tenant_alone(path: str, left: dict[str, int]) -> None:
    kept = Kept()
    assert kept.api.send("DELETE", f"{PATH}/{path}").status == 204
    assert kept.entries() == ALL | left
    assert kept.entries("globex") == ALL


# covers S-05
def test_uses_are_shown() -> None:
    stats = Kept().api.send("GET", f"{PATH}/stats").body
    assert stats["query"] == {"entries": 1, "complete": True, "hits": 3, "misses": 1}
    assert (stats["crawl"]["hits"], stats["embeddings"]["hits"]) == (None, 0)


@pytest.mark.parametrize("name", ["a.example:80", "a.example%2Fpage", "a..example"])
def test_the_cache_of_what_is_no_host_is_not_cleared(name: str) -> None:
    kept = Kept()
    refused = kept.api.send("DELETE", f"{PATH}/domain/{name}")
    assert (refused.status, refused.body["code"]) == (400, "URL_INVALID")
    assert kept.entries() == ALL

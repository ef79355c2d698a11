"""Responses about caches."""

from collections.abc import Sequence

from pydantic import BaseModel

from spinneret.content.caches.models import CacheCount, CacheName


class CacheView(BaseModel):
    """Size and use of a cache; hits and misses are approximate."""

    entries: int
    """Number of stored entries."""
    complete: bool
    """Whether all entries were counted; otherwise the cache has more."""
    hits: int | None
    """Approximate number of uses of stored entries in 30 days; null for fetched pages."""
    misses: int | None
    """null for the cache of crawls, whose jobs report where their page came from."""


class CacheStats(BaseModel):
    """All caches of the tenant."""

    crawl: CacheView
    """Fetched pages."""
    query: CacheView
    """Results of searches."""
    query_embeddings: CacheView
    """Vectors of queries."""
    embeddings: CacheView
    """Vectors of chunks."""


def cache_stats(counts: Sequence[CacheCount]) -> CacheStats:
    """Return the view of all counts."""
    return CacheStats(
        **{
            each.cache.value: CacheView(
                entries=each.entries,
                complete=each.complete,
                hits=None if each.cache is CacheName.CRAWL else each.hits,
                misses=None if each.cache is CacheName.CRAWL else each.misses,
            )
            for each in counts
        }
    )

"""Responses about caches."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from spinneret.content.caches.models import CacheCount, CacheName


class CacheView(BaseModel):
    """Size and use of a cache; hits and misses are approximate."""

    entries: int
    complete: bool
    """Whether all entries were counted; otherwise the cache has more."""
    hits: int | None
    misses: int | None
    """null for the cache of crawls, whose jobs report where their page came from."""


class CacheStats(BaseModel):
    """All caches of the tenant."""

    crawl: CacheView
    query: CacheView
    query_embeddings: CacheView
    embeddings: CacheView


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

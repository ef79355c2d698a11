"""Values of caches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class CacheName(StrEnum):
    """A cache; each can be cleared and counted by itself."""

    CRAWL = "crawl"
    QUERY = "query"
    """Results of searches."""
    QUERY_EMBEDDINGS = "query_embeddings"
    EMBEDDINGS = "embeddings"
    """Vectors of chunks."""


@dataclass(frozen=True)
class CacheKey:
    """An entry of a cache: `digest` is a hash of all that its value depends on."""

    cache: CacheName
    digest: str


Epochs = Mapping[CacheName, int]
"""How often each cache was cleared."""


@dataclass(frozen=True, kw_only=True)
class Read:
    """What a tenant's caches hold of some keys."""

    entries: Mapping[CacheKey, bytes]
    epochs: Epochs
    """As they stood; what is stored under them is forgotten by a clearing that came later."""


@dataclass(frozen=True, kw_only=True)
class Uses:
    """How often a cache had what was asked for, and how often not."""

    hits: int = 0
    misses: int = 0


@dataclass(frozen=True, kw_only=True)
class CacheCount:
    """A cache in numbers."""

    cache: CacheName
    entries: int
    complete: bool
    """Whether all entries were counted; there are more else."""
    hits: int
    misses: int

"""Data classes of caches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from spinneret.content.vectors import Vector
from spinneret.kernel import histogram


class CacheName(StrEnum):
    """Name of a cache that can be cleared and counted separately."""

    CRAWL = "crawl"
    QUERY = "query"
    """Search results."""
    QUERY_EMBEDDINGS = "query_embeddings"
    EMBEDDINGS = "embeddings"
    """Vectors of chunks."""


@dataclass(frozen=True)
class CacheKey:
    """Key of a cache entry: `digest` is a hash of everything its value depends on."""

    cache: CacheName
    digest: str


Epochs = Mapping[CacheName, int]
"""Number of times that each cache was cleared."""


@dataclass(frozen=True, kw_only=True)
class Read:
    """Cache entries found for the requested keys."""

    entries: Mapping[CacheKey, bytes]
    epochs: Epochs
    """Epochs at the time of the read. Entries stored under them expire with the next clearing."""
    generations: Mapping[CacheKey, str] = field(default_factory=dict)
    """Generation that each entry, or each lock on an entry, was stored with."""
    locked: frozenset[CacheKey] = frozenset()
    """Keys of the entries that another caller is making."""


@dataclass(frozen=True, kw_only=True)
class EntryLock:
    """Right to make an entry, which the entry itself ends."""

    key: CacheKey
    owner: str
    generation: str
    """Generation of the tenant's documents that the entry is made from."""
    epoch: int


@dataclass(frozen=True, kw_only=True)
class NewEntry:
    """An entry to be stored."""

    value: bytes
    until: datetime
    generation: str = ""
    """Generation of the tenant's documents; empty if the value doesn't depend on them."""


@dataclass(frozen=True, kw_only=True)
class Uses:
    """Hits and misses of a cache."""

    hits: int = 0
    misses: int = 0

    def __add__(self, other: "Uses") -> "Uses":
        return Uses(hits=self.hits + other.hits, misses=self.misses + other.misses)


@dataclass(frozen=True, kw_only=True)
class DayOfUse:
    """A tenant's searches on one day, and the uses of its caches."""

    searches: int = 0
    caches: Mapping[CacheName, Uses] = field(default_factory=dict)
    search_ms: histogram.Buckets = field(default_factory=dict)
    """Durations of searches."""
    embedding_ms: histogram.Buckets = field(default_factory=dict)
    """Durations of calls that embedded a query."""

    def __add__(self, other: "DayOfUse") -> "DayOfUse":
        caches = {
            cache: self.caches.get(cache, Uses()) + other.caches.get(cache, Uses())
            for cache in CacheName
            if cache in self.caches or cache in other.caches
        }
        return DayOfUse(
            searches=self.searches + other.searches,
            caches=caches,
            search_ms=histogram.added(self.search_ms, other.search_ms),
            embedding_ms=histogram.added(self.embedding_ms, other.embedding_ms),
        )


DaysOfUse = Mapping[date, DayOfUse]


@dataclass(frozen=True, kw_only=True)
class CacheCount:
    """Entry, hit and miss counts of a cache."""

    cache: CacheName
    entries: int
    complete: bool
    """Whether all entries were counted; False means `entries` is a lower bound."""
    hits: int
    misses: int


@dataclass(frozen=True)
class KnownVectors:
    """The vectors that a cache has of some texts."""

    vectors: Mapping[str, Vector]
    keep: Callable[[Mapping[str, Vector]], None]
    """Caches further vectors of the tenant and model for a week, unless the cache was cleared since
    it was read."""

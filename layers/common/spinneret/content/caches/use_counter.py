"""Counts searches and uses of caches in the process, and stores them from time to time.

A search would otherwise cost a write more. A process that ends loses its numbers since the last
write: at most CACHE_USES_HELD uses. A use writes them if they are CACHE_USES_HELD_SECONDS old.
"""

import logging
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from threading import Lock

from spinneret.content.caches import limits
from spinneret.content.caches.models import CacheName, DayOfUse, DaysOfUse, Uses
from spinneret.content.caches.ports import CacheStore
from spinneret.kernel import metrics
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.histogram import Buckets, bucket_of

logger = logging.getLogger(__name__)


class UseCounter:
    """Numbers of all tenants that this process has counted and not stored yet."""

    def __init__(self, store: CacheStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = Lock()
        self._held: dict[tuple[str, date], DayOfUse] = {}
        self._uses = 0
        self._since: datetime | None = None

    def used(self, tenant: str, cache: CacheName, *, hits: int, misses: int) -> None:
        """Count hits and misses of a cache."""
        metrics.CACHE_HITS.add(hits, cache)
        metrics.CACHE_MISSES.add(misses, cache)
        uses = {cache: Uses(hits=hits, misses=misses)}
        self._count(tenant, DayOfUse(caches=uses), hits + misses)

    def searched(self, tenant: str, milliseconds: float, embedding: float | None) -> None:
        """Count a search; `embedding` are the milliseconds in which its query was embedded."""
        embedded: Buckets = {} if embedding is None else {bucket_of(embedding): 1}
        search = {bucket_of(milliseconds): 1}
        self._count(tenant, DayOfUse(searches=1, search_ms=search, embedding_ms=embedded), 1)

    def store(self) -> None:
        """Store what was counted; it is lost if the store is unavailable."""
        with self._lock:
            held, self._held, self._uses, self._since = self._held, {}, 0, None
        for (tenant, day), use in held.items():
            try:
                self._store.count_uses(tenant, day, use)
            except DependencyUnavailable:
                logger.warning("uses_not_counted")

    def days(self, tenant: str, days: Sequence[date]) -> DaysOfUse:
        """Return the numbers of these days, after storing this process's own; see CacheStore."""
        self.store()
        return self._store.uses(tenant, days)

    def _count(self, tenant: str, use: DayOfUse, uses: int) -> None:
        now = self._clock()
        key = tenant, now.date()
        with self._lock:
            self._held[key] = self._held.get(key, DayOfUse()) + use
            self._uses += uses
            self._since = self._since or now
            is_old = now - self._since >= timedelta(seconds=limits.CACHE_USES_HELD_SECONDS)
            if self._uses < limits.CACHE_USES_HELD and not is_old:
                return
        self.store()

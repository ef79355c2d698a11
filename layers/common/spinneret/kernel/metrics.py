"""Metrics: recorded where they arise, and written once by the entry point of the invocation.

CloudWatch reads them from the log (`runtime/metrics.py`), so that none costs a call. It bills each
combination of name and dimension: a dimension has few values, never a tenant, host or id. A name
below is a metric of the namespace `spinneret-<stage>`; docs/runbook.md says which ones alarm.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final, Literal

OTHER: Final = "other"
"""Value of a dimension for every value that isn't declared."""


@dataclass(frozen=True)
class Dimension:
    """A property of some metrics, and its values."""

    name: str
    values: tuple[str, ...]


Place = tuple[str, str] | None
"""Name and value of a metric's dimension; None for a metric without one."""


@dataclass(frozen=True)
class Metric:
    """One metric."""

    name: str
    unit: Literal["Count", "Milliseconds", "Seconds"] = "Count"
    dimension: Dimension | None = None

    def add(self, value: float = 1, of: str = OTHER) -> None:
        """Record a value; counts of an invocation are summed. `of` is the dimension's value."""
        if self.dimension is not None and of not in self.dimension.values:
            of = OTHER
        _recorded.add(self, value, None if self.dimension is None else (self.dimension.name, of))

    @property
    def series(self) -> int:
        """Largest number of series that CloudWatch bills."""
        return 1 if self.dimension is None else len(self.dimension.values) + 1


class _Recorded:
    def __init__(self) -> None:
        self._lock = Lock()  # searches and the sweeper have threads
        self._values: dict[Place, dict[Metric, list[float]]] = {}

    def add(self, metric: Metric, value: float, place: Place) -> None:
        with self._lock:
            values = self._values.setdefault(place, {}).setdefault(metric, [])
            if metric.unit == "Count" and values:
                values[0] += value
            else:
                values.append(value)

    def take(self) -> dict[Place, dict[Metric, list[float]]]:
        with self._lock:
            taken, self._values = self._values, {}
        return taken


_recorded: Final = _Recorded()


def take() -> Mapping[Place, Mapping[Metric, list[float]]]:
    """Return all values since the last call, by place and metric."""
    return _recorded.take()


_AREAS: Final = Dimension(
    "area", ("audits", "core", "crawl", "marketplace", "people", "search", "streams", "watch")
)
_CACHES: Final = Dimension("cache", ("crawl", "query", "query_embeddings", "embeddings"))

REQUESTS: Final = Metric("requests_total", dimension=_AREAS)
"""Requests that an API function served, refused ones included."""

CRAWLS: Final = Metric("crawls_total")
"""Crawls that ended, in any way; pages of a deep crawl aren't crawls."""
CRAWLS_SUCCEEDED: Final = Metric("crawls_succeeded")
CRAWLS_FAILED: Final = Metric("crawls_failed")
CRAWL_DURATION: Final = Metric("crawl_duration_ms", "Milliseconds")
"""Time from the first claim to a successful end."""

SEARCHES: Final = Metric("searches_total")
SEARCH_DURATION: Final = Metric("search_duration_ms", "Milliseconds")
CACHE_HITS: Final = Metric("cache_hits", dimension=_CACHES)
CACHE_MISSES: Final = Metric("cache_misses", dimension=_CACHES)
EMBEDDING_DURATION: Final = Metric("embedding_duration_ms", "Milliseconds")
"""Duration of one call that embeds texts."""
EMBEDDER_ERRORS: Final = Metric("embedder_errors")
"""Calls that the embedder didn't answer in the end."""
INDEX_MISSING: Final = Metric("index_missing")
"""Searches of a tenant with documents that found no index."""
DOCUMENTS: Final = Metric("documents_total")
"""Documents in the index, once a day."""
CHUNKS: Final = Metric("chunks_total")
"""Chunks in the index, once a day."""

WEBHOOKS_DELIVERED: Final = Metric("webhooks_delivered")
WEBHOOKS_FAILED: Final = Metric("webhooks_failed")
"""Deliveries that ended without success, after all attempts."""

DEPTHS: Final[Mapping[str, Metric]] = {
    name: Metric(f"queue_depth_{name}") for name in ("high", "normal", "low")
}
"""Messages that wait, in all lanes of a priority, as each sweep finds them."""


def depth_of(lane: str) -> Metric:
    """Return the depth of a lane's priority; a lane without one in its name is normal."""
    return DEPTHS.get(lane.rpartition("-")[2], DEPTHS["normal"])


DEAD_LETTERS: Final = Metric("queue_depth_dlq")
"""Messages in all dead-letter queues, as each redrive finds them."""
ACTIVE_DEEP_CRAWLS: Final = Metric("active_deep_crawls")
"""Running executions of deep crawls, as each sweep finds them."""

WAKE_LATE: Final = Metric("wake_late_seconds", "Seconds")
"""Longest time that a job had been due when a sweep woke it; 0 without one."""
LEASES_RECLAIMED: Final = Metric("leases_reclaimed")
"""Claims that were ended because their workers were lost."""
JOBS_DEFERRED: Final = Metric("jobs_deferred")
"""Claims that ended in a wait for a host or a limit."""
EXECUTIONS_RESTARTED: Final = Metric("executions_restarted")
"""Executions that were started because the former one of the job was lost."""
CHECKS_DUE: Final = Metric("checks_due")
"""Entries of the due index that a tick read."""
CHECKS_HANDED: Final = Metric("checks_handed")
"""Checks that a tick sent."""
CHECK_LATE: Final = Metric("check_late_seconds", "Seconds")
"""Longest time that a check had certainly been due at a tick."""
OUTBOX_LAG: Final = Metric("outbox_lag_seconds", "Seconds")
"""Age of the oldest domain event that a sweep found unsent."""
ACCESS_DENIED: Final = Metric("access_denied")
"""Calls that AWS refused for want of a permission, or because a key is disabled."""

"""State and timings of one search."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from spinneret.content.caches.models import CacheKey, Epochs
from spinneret.content.documents.models import VersionVisibility
from spinneret.content.search.models import FoundChunk, Query
from spinneret.kernel.clock import Remaining


@dataclass
class SearchRun:
    """State and timings of one search."""

    query: Query
    remaining: Remaining
    timer: Callable[[], float]
    started: float = field(init=False)
    """Time of the timer."""
    timings: dict[str, float] = field(default_factory=dict)
    model_id: str | None = None
    vector_key: CacheKey | None = None
    vector: tuple[float, ...] | None = None
    """Vector of the query; None without a vector leg, and if the query couldn't be embedded."""
    generation: str = ""
    """Generation of the tenant's documents, read before the index."""
    epochs: Epochs = field(default_factory=dict)
    is_prepared: bool = False
    """Whether the query's vector was looked for."""
    kept: dict[CacheKey, bytes] = field(default_factory=dict)
    """Entries that the search caches at its end, all in one call."""
    stored: frozenset[CacheKey] = frozenset()
    """Keys of the entries that were stored."""
    ranking_key: CacheKey | None = None
    """Key of the ranking that a cursor continues in; None if the first page has all."""
    chunks: dict[str, FoundChunk] = field(default_factory=dict)
    asked_chunks: set[str] = field(default_factory=set)
    embedding_cached: bool = False
    degraded: bool = False
    truncated: bool = False
    rows: dict[str, VersionVisibility] = field(default_factory=dict)
    looked_up: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.started = self.timer()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure the time of a step in milliseconds."""
        started = self.timer()
        try:
            yield
        finally:
            taken = (self.timer() - started) * 1000
            self.timings[name] = self.timings.get(name, 0.0) + taken

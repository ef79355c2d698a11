"""Hybrid search: embed the query, rank by both legs, fuse, drop what is outdated."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from spinneret.content.documents.ports import DocumentStore, Embedder
from spinneret.content.search.models import Fused, Leg, Query
from spinneret.content.search.ports import ChunkIndex
from spinneret.content.search.rules import fuse
from spinneret.kernel import bounds
from spinneret.kernel.clock import Remaining, part_of
from spinneret.kernel.errors import DependencyUnavailable

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Found:
    """The hits of one query, best first."""

    hits: tuple[Fused, ...]
    degraded: bool
    """The embedder was away: the keyword leg ranked alone."""
    total_count: int
    """Fused candidates within the window, before outdated ones are dropped and the limit cuts."""


class SearchService:
    """Searches one tenant's current documents."""

    def __init__(self, *, embedder: Embedder, index: ChunkIndex, documents: DocumentStore) -> None:
        self._embedder = embedder
        self._index = index
        self._documents = documents

    def search(self, query: Query, remaining: Remaining) -> Found:
        """Raises DependencyUnavailable."""
        vector = self._vector(query.text, remaining)
        legs = self._index.search(query.tenant, query.text, vector, bounds.SEARCH_WINDOW, remaining)
        weights = {Leg.VECTOR: query.vector_weight, Leg.KEYWORD: query.keyword_weight}
        fused = [hit for hit in fuse(legs, weights, query.rrf_k) if hit.score >= query.min_score]
        return Found(
            hits=tuple(self._current(query, fused)),
            degraded=vector is None,
            total_count=len(fused),
        )

    def _vector(self, text: str, remaining: Remaining) -> tuple[float, ...] | None:
        """The query's vector; None when the embedder doesn't answer in its part of the time."""
        try:
            [vector] = self._embedder.embed([text], part_of(remaining, bounds.SEARCH_EMBED_SECONDS))
        except DependencyUnavailable:
            logger.warning("search_degraded", extra={"dependency": "embedder"})
            return None
        return vector

    def _current(self, query: Query, fused: list[Fused]) -> list[Fused]:
        """The first `limit` hits whose version is the one that their document shows."""
        hits: list[Fused] = []
        known: dict[str, str] = {}
        asked: set[str] = set()
        page = 2 * query.limit  # mostly one look-up, as few documents change between two crawls
        for start in range(0, len(fused), page):
            part = fused[start : start + page]
            ids = sorted({hit.candidate.document_id for hit in part} - asked)
            for first in range(0, len(ids), 100):
                known |= self._documents.current_versions(query.tenant, ids[first : first + 100])
            asked |= set(ids)
            hits += [
                hit for hit in part if known.get(hit.candidate.document_id) == hit.candidate.version
            ]
            if len(hits) >= query.limit:
                break
        return hits[: query.limit]

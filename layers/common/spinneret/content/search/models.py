"""Indexed chunks, searches and their hits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spinneret.kernel import bounds


class Leg(StrEnum):
    """One of the two rankings that are fused."""

    VECTOR = "vector"
    KEYWORD = "keyword"


@dataclass(frozen=True, kw_only=True)
class Query:
    """A hybrid search."""

    tenant: str
    text: str
    limit: int = bounds.SEARCH_LIMIT_DEFAULT
    rrf_k: int = bounds.RRF_K
    vector_weight: float = 1.0
    keyword_weight: float = 1.0
    min_score: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One chunk as one leg ranked it."""

    chunk_id: str
    document_id: str
    version: str
    score: float
    """The leg's own score: cosine similarity mapped to [0, 1], or BM25."""
    chunk: FoundChunk
    highlights: tuple[tuple[int, int], ...] = ()
    """Character ranges of the chunk's text that matched."""


@dataclass(frozen=True, kw_only=True)
class FoundChunk:
    """What a hit shows of its chunk."""

    url: str
    title: str | None
    text: str
    section: str | None
    index: int
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Fused:
    """A chunk after fusion; a leg that didn't find it has neither rank nor score."""

    candidate: Candidate
    score: float
    vector_score: float | None
    keyword_score: float | None
    highlights: tuple[tuple[int, int], ...]

    @property
    def found_by(self) -> str:
        """`vector`, `keyword` or `fused` when both legs found it."""
        if self.vector_score is None:
            return Leg.KEYWORD
        return Leg.VECTOR if self.keyword_score is None else "fused"

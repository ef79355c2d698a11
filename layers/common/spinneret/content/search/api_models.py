"""Requests and answers of searching."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from spinneret.content.search.models import Query
from spinneret.kernel import bounds

QueryText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=bounds.QUERY_MAX_CHARS),
]
Weight = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False, strict=True)]


class SearchRequest(BaseModel):
    """Body of `POST /api/v1/search`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: QueryText
    limit: Annotated[int, Field(ge=1, le=bounds.SEARCH_LIMIT_MAX, strict=True)] = (
        bounds.SEARCH_LIMIT_DEFAULT
    )
    rrf_k: Annotated[int, Field(ge=1, le=1000, strict=True)] = bounds.RRF_K
    vector_weight: Weight = 1.0
    keyword_weight: Weight = 1.0
    min_score: Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)] = 0.0

    def query_of(self, tenant: str) -> Query:
        """The search that `tenant` asks for."""
        return Query(
            tenant=tenant,
            text=self.query,
            limit=self.limit,
            rrf_k=self.rrf_k,
            vector_weight=self.vector_weight,
            keyword_weight=self.keyword_weight,
            min_score=self.min_score,
        )


class SearchHit(BaseModel):
    """One chunk. `score` is the fused one; a leg that didn't find the chunk has no score."""

    document_id: str
    chunk_id: str
    url: str
    title: str | None
    content: str
    section_header: str | None
    chunk_index: int
    start_char: int
    end_char: int
    score: float
    vector_score: float | None
    keyword_score: float | None
    source: str
    highlights: list[tuple[int, int]]
    """Character ranges of `content` that matched the query's words."""


class SearchResponse(BaseModel):
    """The hits, best first."""

    results: list[SearchHit]
    total_count: int
    degraded: bool = False
    """The embedder was away: words alone have ranked."""
    latency_ms: float

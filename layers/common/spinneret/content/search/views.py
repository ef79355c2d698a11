"""Found chunks as answers."""

from __future__ import annotations

from spinneret.content.search.api_models import SearchHit, SearchResponse
from spinneret.content.search.models import Fused
from spinneret.content.search.service import Found


def response_of(found: Found, latency_ms: float) -> SearchResponse:
    """The answer of a search that took `latency_ms`."""
    return SearchResponse(
        results=[_hit(each) for each in found.hits],
        total_count=found.total_count,
        degraded=found.degraded,
        latency_ms=round(latency_ms, 1),
    )


def _hit(fused: Fused) -> SearchHit:
    candidate, chunk = fused.candidate, fused.candidate.chunk
    return SearchHit(
        document_id=candidate.document_id,
        chunk_id=candidate.chunk_id,
        url=chunk.url,
        title=chunk.title,
        content=chunk.text,
        section_header=chunk.section,
        chunk_index=chunk.index,
        start_char=chunk.start,
        end_char=chunk.end,
        score=fused.score,
        vector_score=fused.vector_score,
        keyword_score=fused.keyword_score,
        source=fused.found_by,
        highlights=list(fused.highlights),
    )

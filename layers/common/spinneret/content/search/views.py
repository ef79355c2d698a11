"""Search results as API responses."""

from spinneret.content.search.api_models import SearchHit, SearchResponse
from spinneret.content.search.models import Hit, Leg
from spinneret.content.search.service import SearchResult


def response_of(found: SearchResult, latency_ms: float) -> SearchResponse:
    """Return the response to a search that took `latency_ms`."""
    return SearchResponse(
        results=[_hit(each) for each in found.hits],
        total_count=found.total_count,
        next_cursor=found.next_cursor,
        fusion=found.fusion,
        degraded=found.degraded,
        query_truncated=found.truncated,
        rerank_failed=found.rerank_failed,
        query_embedding_cached=found.embedding_cached,
        result_cached=found.result_cached,
        latency_ms=round(latency_ms, 1),
        timings={step: round(taken, 1) for step, taken in found.timings.items()},
    )


def _hit(hit: Hit) -> SearchHit:
    ranked, chunk = hit.ranked, hit.chunk
    vector, keyword = ranked.places.get(Leg.VECTOR), ranked.places.get(Leg.KEYWORD)
    return SearchHit(
        document_id=ranked.candidate.document_id,
        chunk_id=ranked.candidate.chunk_id,
        url=chunk.url,
        title=chunk.title,
        content=chunk.text,
        section_header=chunk.section or chunk.title,
        content_type=chunk.type,
        chunk_index=chunk.index,
        start_char=chunk.start,
        end_char=chunk.end,
        score=ranked.score,
        vector_score=vector.score if vector else None,
        vector_rank=vector.rank if vector else None,
        keyword_score=keyword.score if keyword else None,
        keyword_rank=keyword.rank if keyword else None,
        rerank_score=ranked.rerank_score,
        source=ranked.found_by,
        highlights=list(chunk.highlights),
        similar_count=ranked.similar,
        expanded_chunks=None if hit.around is None else [each.text for each in hit.around],
    )

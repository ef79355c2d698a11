"""Examples of the document: searches."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

_PAGE: Final = "https://example.com/guide"
_PASSAGE: Final = "Orb weavers take down their web every evening and weave it anew."
SEARCH: Final[Examples] = {
    "by meaning and by words": {
        "request": {"query": "how spiders weave silk", "limit": 5},
        "answer": {
            "results": [
                {
                    "document_id": "doc_5d41402abc4b2a76b9719d911017c592",
                    "chunk_id": "7d793037a0760186574b0282f2f435e7",
                    "url": _PAGE,
                    "title": "Orb weavers",
                    "content": _PASSAGE,
                    "section_header": "Silk",
                    "chunk_index": 3,
                    "start_char": 5120,
                    "end_char": 5120 + len(_PASSAGE),
                    "content_type": "prose",
                    "score": 0.93,
                    "vector_score": 0.83,
                    "vector_rank": 2,
                    "keyword_score": 7.1,
                    "keyword_rank": 1,
                    "rerank_score": None,
                    "source": "fused",
                    "highlights": [[50, 55]],
                    "similar_count": 0,
                    "expanded_chunks": None,
                }
            ],
            "total_count": 1,
            "next_cursor": None,
            "fusion": "confidence",
            "query_embedding_cached": False,
            "result_cached": False,
            "latency_ms": 41.7,
            "timings": {"embed": 9.1, "index": 12.4, "versions": 4.2, "chunks": 6.3},
        },
    }
}

_QUERY: Final = {"query": "how spiders weave silk", "limit": 5}
_ANSWER: Final = SEARCH["by meaning and by words"]["answer"]
_HIT: Final = _ANSWER["results"][0]
VECTOR: Final[Examples] = {
    "by meaning": {
        "request": _QUERY,
        "answer": {
            **_ANSWER,
            "results": [
                {
                    **_HIT,
                    "score": 0.83,
                    "source": "vector",
                    "keyword_score": None,
                    "keyword_rank": None,
                }
            ],
            "fusion": None,
        },
    }
}
KEYWORD: Final[Examples] = {
    "by words": {
        "request": {**_QUERY, "query": '"orb weavers" silk'},
        "answer": {
            **_ANSWER,
            "results": [
                {
                    **_HIT,
                    "score": 7.1,
                    "source": "keyword",
                    "vector_score": None,
                    "vector_rank": None,
                }
            ],
            "fusion": None,
        },
    }
}

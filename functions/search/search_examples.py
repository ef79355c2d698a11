"""Examples of the document: searches."""

from __future__ import annotations

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
                    "score": 0.0325,
                    "vector_score": 0.83,
                    "keyword_score": 7.1,
                    "source": "fused",
                    "highlights": [[50, 55]],
                }
            ],
            "total_count": 1,
            "latency_ms": 41.7,
        },
    }
}

"""Examples of the document: documents."""

from typing import Any, Final

from spinneret.runtime.http.declaration import Examples

_ID: Final = "doc_5d41402abc4b2a76b9719d911017c592"
_JOB: Final = "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b60"
_WHEN: Final = "2026-01-02T12:00:00.000000Z"
_VIEW: Final[dict[str, Any]] = {
    "document_id": _ID,
    "url": "https://example.com/guide",
    "domain": "example.com",
    "parent_url": None,
    "title": "Orb weavers",
    "content_hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "language": "en",
    "extraction": None,
    "source": "upload",
    "collection_id": None,
    "tags": [{"tag_id": "tag_0198c5a1d2e37f4a8b6c9d0e1f2a3b61", "name": "silk"}],
    "metadata": {"shelf": 7},
    "version": "000001-9f86d081884c",
    "chunk_count": 4,
    "token_count": 1630,
    "embedding_model": "sentence-transformers/all-MiniLM-L6-v2",
    "created_at": _WHEN,
    "crawled_at": _WHEN,
    "changed_at": _WHEN,
    "updated_at": _WHEN,
    "deleted_at": None,
}
_ACCEPTED: Final = {
    "job_id": _JOB,
    "status": "pending",
    "message": "accepted",
    "document_id": _ID,
    "url": "https://example.com/guide",
}
_DOCUMENT: Final = {
    "url": "https://example.com/guide",
    "title": "Orb weavers",
    "content": "# Orb weavers\n\nThey take down their web every evening.",
    "content_type": "text/markdown",
    "tags": ["silk"],
    "metadata": {"shelf": 7},
}
UPLOAD: Final[Examples] = {"a guide in markdown": {"request": _DOCUMENT, "answer": _ACCEPTED}}
BATCH: Final[Examples] = {
    "one of two": {
        "request": {
            "documents": [_DOCUMENT, {"content": "Wolf spiders.", "collection_id": "col_unknown"}]
        },
        "answer": {
            "jobs": [
                {**_ACCEPTED, "error": None},
                {
                    "job_id": None,
                    "status": None,
                    "message": "refused",
                    "document_id": None,
                    "url": None,
                    "error": {"error": "no such collection", "code": "NOT_FOUND", "details": {}},
                },
            ],
            "total_submitted": 1,
            "failed_count": 1,
        },
    }
}
CHANGE: Final[Examples] = {
    "another shelf": {"request": {"metadata": {"shelf": 7, "lent": None}}, "answer": _VIEW}
}
TAGS: Final[Examples] = {"a topic": {"request": {"tags": ["Silk"]}, "answer": _VIEW}}

"""Examples of the document: collections."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

COLLECTION: Final[Examples] = {
    "what we read about silk": {
        "request": {"name": "silk", "description": "How spiders make and use it"},
        "answer": {
            "collection_id": "col_0198c5a1d2e37f4a8b6c9d0e1f2a3b60",
            "name": "silk",
            "description": "How spiders make and use it",
            "document_count": 0,
            "created_at": "2026-01-02T12:00:00.000000Z",
            "updated_at": "2026-01-02T12:00:00.000000Z",
        },
    }
}

"""Examples of the document: tags."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

TAG: Final[Examples] = {
    "a topic": {
        "request": {"name": "Silk"},
        "answer": {
            "tag_id": "tag_0198c5a1d2e37f4a8b6c9d0e1f2a3b60",
            "name": "silk",
            "created_at": "2026-01-02T12:00:00.000000Z",
        },
    }
}

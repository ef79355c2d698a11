"""Examples of the document: status pages."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

STATUS_PAGE: Final[Examples] = {
    "a page for everybody": {
        "request": {"slug": "silk-shop", "title": "Silk Shop"},
        "answer": {
            "slug": "silk-shop",
            "title": "Silk Shop",
            "path": "/status/silk-shop",
            "updated_at": "2026-01-02T12:00:00.000000Z",
        },
    }
}

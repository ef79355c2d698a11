"""Examples of the document: imports."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

_ANSWER: Final = {
    "job_id": "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b60",
    "status": "pending",
    "message": "accepted",
}
IMPORT: Final[Examples] = {
    "a file": {
        "request": {
            "csv": "url,name,interval_seconds\nhttps://example.com/,Shop,60\nhttps://example.com/help,,\n"
        },
        "answer": _ANSWER,
    },
    "a sitemap": {
        "request": {
            "sitemap_url": "https://example.com/sitemap.xml",
            "limit": 100,
            "options": {"interval_seconds": 300},
        },
        "answer": _ANSWER,
    },
}

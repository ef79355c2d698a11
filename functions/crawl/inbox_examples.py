"""Examples of the document: the inbox."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

_KEY: Final = "T/acme/inbox/job_0198c5a1d2e37f4a8b6c9d0e1f2a3b70/pages.csv"
INBOX: Final[Examples] = {
    "a table of pages": {
        "request": {"name": "pages.csv"},
        "answer": {
            "job_id": "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b70",
            "inbox_id": "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b70",
            "key": _KEY,
            "url": "https://bucket.s3.amazonaws.com/",
            "fields": {"key": _KEY, "policy": "eyJ...", "x-amz-signature": "3f2a..."},
            "max_bytes": 104857600,
            "expires_at": "2026-01-02T12:15:00.000000Z",
        },
    },
}

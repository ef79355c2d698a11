"""Examples of the document: webhooks."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

_MADE: Final = "2026-01-02T12:00:00.000000Z"
_ENDPOINT: Final = {
    "endpoint_id": "wh_0198c5a1d2e37f4a8b6c9d0e1f2a3b52",
    "name": "crawls",
    "url": "https://hooks.example.com/spinneret",
    "kind": "webhook",
    "events": ["job.completed", "job.failed"],
    "header_names": ["X-Team"],
    "source_id": None,
    "is_active": True,
    "disabled_reason": None,
    "old_secret_until": None,
    "created_at": _MADE,
    "updated_at": _MADE,
}
CREATE_WEBHOOK: Final[Examples] = {
    "with a header of its own": {
        "request": {
            "name": "crawls",
            "url": "https://hooks.example.com/spinneret",
            "headers": {"X-Team": "search"},
        },
        "answer": {**_ENDPOINT, "secret": "whsec_RVhBTVBMRS1zaG93bi10aGlzLW9uY2U="},
    }
}
REPLACE_WEBHOOK: Final[Examples] = {
    "to rest it": {
        "request": {
            "name": "crawls",
            "url": "https://hooks.example.com/spinneret",
            "is_active": False,
        },
        "answer": {**_ENDPOINT, "is_active": False, "updated_at": "2026-01-03T08:30:00.000000Z"},
    }
}

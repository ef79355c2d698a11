"""Examples of the document: sources."""

from typing import Any, Final

from spinneret.runtime.http.declaration import Examples

_MADE: Final = "2026-01-02T12:00:00.000000Z"
_SOURCE_ID: Final = "source_0198c5a1d2e37f4a8b6c9d0e1f2a3b90"
_SOURCE: Final[dict[str, Any]] = {
    "name": "The guide",
    "url_pattern": "https://example.com/guide/**",
    "crawl_config_id": None,
    "collection_id": None,
    "schedule_cron": "0 */6 * * *",
    "timezone": "Europe/Berlin",
    "is_active": True,
}
SOURCE: Final[Examples] = {
    "a part of a site, every six hours": {
        "request": _SOURCE,
        "answer": {
            "source_id": _SOURCE_ID,
            **_SOURCE,
            "next_run_at": "2026-01-02T17:00:00.000000Z",
            "run_id": None,
            "last_crawled_at": None,
            "created_at": _MADE,
            "updated_at": _MADE,
        },
    }
}
WEBHOOK: Final[Examples] = {
    "runs that failed": {
        "request": {"url": "https://hooks.example/runs", "events": ["failed"]},
        "answer": {
            "endpoint_id": "wh_0198c5a1d2e37f4a8b6c9d0e1f2a3b91",
            "name": "The guide",
            "url": "https://hooks.example/runs",
            "events": ["source.run_failed"],
            "kind": "webhook",
            "header_names": [],
            "source_id": _SOURCE_ID,
            "is_active": True,
            "disabled_reason": None,
            "old_secret_until": None,
            "created_at": _MADE,
            "updated_at": _MADE,
            "secret": "whsec_ZXhhbXBsZSBvZiBhIHNlY3JldCB0aGF0IGlzbid0",
        },
    }
}

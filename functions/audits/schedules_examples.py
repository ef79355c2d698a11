"""Examples of the document: scheduled audits."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

SCHEDULE: Final[Examples] = {
    "every Monday morning": {
        "request": {
            "url": "https://example.com/",
            "recipe": "seo",
            "options": {"max_pages": 200},
            "schedule_cron": "0 6 * * 1",
            "timezone": "Europe/Berlin",
            "fail_under": 90,
        },
        "answer": {
            "schedule_id": "asched_0198c5a1d2e37f4a8b6c9d0e1f2a3b70",
            "url": "https://example.com/",
            "recipe": "seo",
            "options": {"max_pages": 200},
            "schedule_cron": "0 6 * * 1",
            "timezone": "Europe/Berlin",
            "fail_under": 90,
            "headers": [],
            "is_active": True,
            "created_at": "2026-01-02T12:00:00.000000Z",
            "updated_at": "2026-01-02T12:00:00.000000Z",
            "next_run_at": "2026-01-05T05:00:00.000000Z",
            "last_run_at": None,
            "last_audit_id": None,
            "last_error": None,
        },
    }
}

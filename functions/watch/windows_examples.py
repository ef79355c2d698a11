"""Examples of the document: maintenance windows."""

from typing import Any, Final

from spinneret.runtime.http.declaration import Examples

_TIMES: Final[dict[str, Any]] = {
    "name": "Updates",
    "starts_at": "2026-01-04T02:30:00",
    "duration_minutes": 90,
    "timezone": "Europe/Berlin",
    "recurrence": "FREQ=WEEKLY;BYDAY=SU",
    "target_ids": [],
}
WINDOW: Final[Examples] = {
    "every Sunday night": {
        "request": _TIMES,
        "answer": {
            "id": "mw_0198c5a1d2e37f4a8b6c9d0e1f2a3b60",
            **_TIMES,
            "created_at": "2026-01-02T12:00:00.000000Z",
            "updated_at": "2026-01-02T12:00:00.000000Z",
        },
    }
}

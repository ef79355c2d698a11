"""Examples of the document: targets."""

from typing import Any, Final

from spinneret.runtime.http.declaration import Examples

_ANSWER: Final = {
    "id": "t_0198c5a1d2e37f4a8b6c9d0e1f2a3b60",
    "kind": "http",
    "url": "HTTPS://Example.com:443/health/?full=1#top",
    "canonical_url": "https://example.com/health?full=1",
    "host": "example.com",
    "port": None,
    "record_type": None,
    "created_at": "2026-01-02T12:00:00.000000Z",
    "updated_at": "2026-01-02T12:00:00.000000Z",
    "name": "Shop",
    "interval_seconds": 60,
    "method": "GET",
    "failure_threshold": 3,
    "recovery_threshold": 2,
    "degraded_ms": 800,
    "conditions": ['status == 200 and json("queue.depth") < 100'],
    "certificate_days": [21, 14, 7],
    "watch_content": False,
    "public": True,
    "retry_seconds": None,
    "reminder_minutes": 60,
    "quiet_hours": {"start": "22:00", "end": "07:00", "timezone": "Europe/Berlin"},
    "request": None,
    "expected": [],
    "grace_seconds": 0,
    "last_called_at": None,
    "paused": False,
    "status": "pending",
    "status_since": None,
    "next_check_at": "2026-01-02T12:00:41.250000Z",
    "effective_interval_seconds": 60,
    "paced": None,
    "skipped_in_a_row": 0,
    "last_checked_at": None,
    "last_outcome": None,
    "last_status_code": None,
    "last_latency_ms": None,
    "last_error": None,
    "certificate_not_after": None,
    "incident_id": None,
}

_OTHER: Final[dict[str, Any]] = {
    "name": None,
    "interval_seconds": 300,
    "effective_interval_seconds": 300,
    "degraded_ms": None,
    "conditions": [],
    "public": False,
    "reminder_minutes": None,
    "quiet_hours": None,
}
_DNS: Final = {
    **_ANSWER,
    **_OTHER,
    "kind": "dns",
    "url": "dns:example.com?type=MX",
    "canonical_url": "dns:example.com?type=MX",
    "record_type": "MX",
    "expected": ["10 mx.example.com"],
}
_HEARTBEAT: Final = {
    **_ANSWER,
    **_OTHER,
    "kind": "heartbeat",
    "url": "heartbeat:t_0198c5a1d2e37f4a8b6c9d0e1f2a3b60",
    "canonical_url": "heartbeat:t_0198c5a1d2e37f4a8b6c9d0e1f2a3b60",
    "host": "t_0198c5a1d2e37f4a8b6c9d0e1f2a3b60",
    "name": "Backup",
    "interval_seconds": 86400,
    "effective_interval_seconds": 86400,
    "failure_threshold": 1,
    "recovery_threshold": 1,
    "grace_seconds": 3600,
    "next_check_at": "2026-01-03T13:00:00.000000Z",
}

TARGET: Final[Examples] = {
    "a shop, every minute": {
        "request": {
            "url": "HTTPS://Example.com:443/health/?full=1#top",
            "name": "Shop",
            "interval_seconds": 60,
            "degraded_ms": 800,
            "conditions": ['status == 200 and json("queue.depth") < 100'],
            "public": True,
            "reminder_minutes": 60,
            "quiet_hours": {"start": "22:00", "end": "07:00", "timezone": "Europe/Berlin"},
        },
        "answer": _ANSWER,
    },
    "mail servers, by their DNS record": {
        "request": {
            "kind": "dns",
            "host": "example.com",
            "record_type": "MX",
            "expected": ["10 mx.example.com"],
            "interval_seconds": 300,
        },
        "answer": _DNS,
    },
    "a nightly job, which calls": {
        "request": {
            "kind": "heartbeat",
            "name": "Backup",
            "interval_seconds": 86400,
            "grace_seconds": 3600,
        },
        "answer": _HEARTBEAT,
    },
}
HEARTBEAT: Final[Examples] = {
    "where the job calls": {"answer": {"path": "/heartbeats?token=6f1d…"}}
}
CHANGE: Final[Examples] = {
    "be quicker to say so": {
        "request": {"failure_threshold": 2},
        "answer": _ANSWER | {"failure_threshold": 2},
    }
}

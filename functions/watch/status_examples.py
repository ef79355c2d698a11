"""Examples of the document: status pages."""

from typing import Any, Final

from spinneret.runtime.http.declaration import Examples

STATUS_PAGE: Final[Examples] = {
    "a page for everybody": {
        "request": {"slug": "silk-shop", "title": "Silk Shop"},
        "answer": {
            "slug": "silk-shop",
            "title": "Silk Shop",
            "groups": [],
            "is_main": True,
            "path": "/status/silk-shop",
            "feed_path": "/status/silk-shop/feed.xml",
            "updated_at": "2026-01-02T12:00:00.000000Z",
        },
    }
}
_GROUPS: Final = [{"name": "Shop", "target_ids": ["t_0198c5a1d2e37f4a8b6c9d0e1f2a3b60"]}]
_CHANGE: Final[dict[str, Any]] = {"title": "Silk Shop for partners", "groups": _GROUPS}
_PARTNERS: Final = {
    "slug": "silk-partners",
    **_CHANGE,
    "is_main": False,
    "path": "/status/silk-partners",
    "feed_path": "/status/silk-partners/feed.xml",
    "updated_at": "2026-01-02T12:00:00.000000Z",
}
NEW_STATUS_PAGE: Final[Examples] = {
    "a page of one group": {"request": {"slug": "silk-partners", **_CHANGE}, "answer": _PARTNERS}
}
STATUS_PAGE_AT: Final[Examples] = {"a page of one group": {"request": _CHANGE, "answer": _PARTNERS}}
_FIRST: Final[dict[str, Any]] = {
    "at": "2026-01-02T12:00:00.000000Z",
    "status": "investigating",
    "text": "Some payments fail.",
}
_POSTED: Final[dict[str, Any]] = {
    "id": "nt_0198c5a1d2e37f4a8b6c9d0e1f2a3b60",
    "kind": "incident",
    "title": "Payments",
    "status": "investigating",
    "slugs": [],
    "starts_at": None,
    "ends_at": None,
    "created_at": "2026-01-02T12:00:00.000000Z",
    "updated_at": "2026-01-02T12:00:00.000000Z",
    "updates": [_FIRST],
}
NOTICE: Final[Examples] = {
    "an incident": {
        "request": {"kind": "incident", "title": "Payments", "text": "Some payments fail."},
        "answer": _POSTED,
    }
}
NOTICE_UPDATE: Final[Examples] = {
    "its end": {
        "request": {"status": "resolved", "text": "All payments work."},
        "answer": _POSTED
        | {
            "status": "resolved",
            "updated_at": "2026-01-02T12:30:00.000000Z",
            "updates": [
                _FIRST,
                {
                    "at": "2026-01-02T12:30:00.000000Z",
                    "status": "resolved",
                    "text": "All payments work.",
                },
            ],
        },
    }
}

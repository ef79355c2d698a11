"""Examples of the document: API keys."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

_MADE: Final = "2026-01-02T12:00:00.000000Z"
KEY: Final[Examples] = {
    "for a reader": {
        "request": {"name": "dashboard", "scopes": ["read"], "expires_at": "2027-01-01T00:00:00Z"},
        "answer": {
            "key_id": "key_0198c5a1d2e37f4a8b6c9d0e1f2a3b50",
            "name": "dashboard",
            "prefix": "spn_EXAM",
            "scopes": ["read"],
            "rate_limit_rpm": 60,
            "is_active": True,
            "created_at": _MADE,
            "expires_at": "2027-01-01T00:00:00.000000Z",
            "permissions": None,
            "revoked_at": None,
            "secret": "spn_EXAMPLE-shown-this-once",
        },
    }
}

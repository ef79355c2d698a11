"""Examples of the document: people and their sessions."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

_USER: Final = {
    "user_id": "u_0198c5a1d2e37f4a8b6c9d0e1f2a3b51",
    "email": "maya@example.com",
    "name": "Maya",
    "role": "seller",
    "is_active": True,
    "has_password": False,
    "created_at": "2026-01-02T12:00:00.000000Z",
    "last_login_at": None,
}
_TOKENS: Final = {
    "access_token": "eyJhbGciOiJSUzI1NiJ9.e30.EXAMPLE",
    "refresh_token": "spr_EXAMPLE-that-each-use-replaces",
    "token_type": "Bearer",
    "expires_in": 3600,
}
INVITE: Final[Examples] = {
    "a seller": {
        "request": {"email": "maya@example.com", "name": "Maya", "role": "seller"},
        "answer": {**_USER, "invitation": "spi_EXAMPLE-shown-this-once"},
    }
}
UPDATE: Final[Examples] = {
    "deactivate": {
        "request": {"name": "Maya", "role": "seller", "is_active": False},
        "answer": {**_USER, "is_active": False},
    }
}
LOGOUT: Final[Examples] = {
    "this session": {
        "request": {"refresh_token": "spr_EXAMPLE-that-each-use-replaces"},
        "answer": {"all": False},
    }
}
REFRESH: Final[Examples] = {
    "next access token": {
        "request": {"refresh_token": "spr_EXAMPLE-that-each-use-replaces"},
        "answer": _TOKENS,
    }
}

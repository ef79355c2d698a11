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
LOGIN: Final[Examples] = {
    "sign in": {
        "request": {
            "tenant": "acme",
            "email": "maya@example.com",
            "password": "an example of a long password",
        },
        "answer": _TOKENS,
    }
}
LOGOUT: Final[Examples] = {
    "this session": {
        "request": {"refresh_token": "spr_EXAMPLE-that-each-use-replaces"},
        "answer": {"all": False},
    }
}
ACCEPT: Final[Examples] = {
    "choose a password": {
        "request": {
            "invitation": "spi_EXAMPLE-shown-this-once",
            "password": "an example of a long password",
        },
        "answer": {**_USER, "has_password": True},
    }
}
PASSWORD: Final[Examples] = {
    "change it": {
        "request": {
            "current_password": "an example of a long password",
            "new_password": "another example of one",
        },
        "answer": {**_USER, "has_password": True},
    }
}
REFRESH: Final[Examples] = {
    "next access token": {
        "request": {"refresh_token": "spr_EXAMPLE-that-each-use-replaces"},
        "answer": _TOKENS,
    }
}

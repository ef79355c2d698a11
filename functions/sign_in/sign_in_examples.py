"""Examples of the document: sign-in and passwords."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

_USER: Final = {
    "user_id": "u_0198c5a1d2e37f4a8b6c9d0e1f2a3b51",
    "email": "maya@example.com",
    "name": "Maya",
    "role": "seller",
    "is_active": True,
    "has_password": True,
    "created_at": "2026-01-02T12:00:00.000000Z",
    "last_login_at": None,
}
_TOKENS: Final = {
    "access_token": "eyJhbGciOiJSUzI1NiJ9.e30.EXAMPLE",
    "refresh_token": "spr_EXAMPLE-that-each-use-replaces",
    "token_type": "Bearer",
    "expires_in": 3600,
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
ACCEPT: Final[Examples] = {
    "choose a password": {
        "request": {
            "invitation": "spi_EXAMPLE-shown-this-once",
            "password": "an example of a long password",
        },
        "answer": _USER,
    }
}
PASSWORD: Final[Examples] = {
    "change it": {
        "request": {
            "current_password": "an example of a long password",
            "new_password": "another example of one",
        },
        "answer": _USER,
    }
}

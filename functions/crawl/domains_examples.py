"""Examples of the document: domain settings."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

_MADE: Final = "2026-01-02T12:00:00.000000Z"
_DOMAIN: Final = {
    "domain": "example.com",
    "rate_limit_rps": 0.5,
    "burst": 2,
    "min_gap_seconds": None,
    "circuit_breaker_threshold": None,
    "circuit_breaker_timeout_s": None,
    "notes": "asked us to be slow",
    "blocked": False,
    "blocked_reason": None,
    "blocked_at": None,
    "pace": {
        "rate_limit_rps": 0.5,
        "burst": 2,
        "min_gap_seconds": None,
        "circuit_breaker_threshold": 5,
        "circuit_breaker_timeout_s": 300.0,
    },
    "updated_at": _MADE,
}
PUT_DOMAIN: Final[Examples] = {
    "a slower pace": {
        "request": {"rate_limit_rps": 0.5, "burst": 2, "notes": "asked us to be slow"},
        "answer": _DOMAIN,
    }
}
BLOCK: Final[Examples] = {
    "at the owner's request": {
        "request": {"reason": "at the owner's request"},
        "answer": {
            **_DOMAIN,
            "blocked": True,
            "blocked_reason": "at the owner's request",
            "blocked_at": _MADE,
        },
    }
}

"""Examples of the document: proxies."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

_MADE: Final = "2026-01-02T12:00:00.000000Z"
PROXY: Final[Examples] = {
    "two servers in turn": {
        "request": {
            "name": "two towns",
            "servers": [
                {"url": "http://one.proxy.example:8080", "username": "ada", "password": "example"},
                {"url": "http://two.proxy.example:8080"},
            ],
            "rotation_strategy": "round_robin",
        },
        "answer": {
            "proxy_id": "proxy_0198c5a1d2e37f4a8b6c9d0e1f2a3b51",
            "name": "two towns",
            "rotation_strategy": "round_robin",
            "is_active": True,
            "created_at": _MADE,
            "updated_at": _MADE,
            "servers": [
                {"url": "http://one.proxy.example:8080", "has_credentials": True},
                {"url": "http://two.proxy.example:8080", "has_credentials": False},
            ],
        },
    }
}
TRIAL: Final[Examples] = {
    "a server of a config": {
        "request": {
            "url": "https://example.com/",
            "proxy_id": "proxy_0198c5a1d2e37f4a8b6c9d0e1f2a3b51",
            "position": 1,
        },
        "answer": {
            "server": "http://two.proxy.example:8080",
            "reachable": True,
            "status_code": 200,
            "latency_ms": 312,
            "error": None,
        },
    },
    "a server that isn't stored": {
        "request": {
            "url": "https://example.com/",
            "server": {"url": "http://one.proxy.example:8080"},
        },
        "answer": {
            "server": "http://one.proxy.example:8080",
            "reachable": False,
            "status_code": None,
            "latency_ms": None,
            "error": {"error": "the proxy asks for credentials", "code": "PROXY_FAILED"},
        },
    },
}

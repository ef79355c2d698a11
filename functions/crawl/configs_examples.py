"""Examples of the document: crawl configs."""

from typing import Any, Final

from spinneret.runtime.http.declaration import Examples

_MADE: Final = "2026-01-02T12:00:00.000000Z"
_CONFIG: Final[dict[str, Any]] = {
    "name": "manuals",
    "max_depth": 3,
    "rate_limit_rps": 0.5,
    "respect_robots_txt": True,
    "headers": {"Accept-Language": "en"},
    "extraction_strategy": "markdown",
    "keep_link_targets": True,
    "chunking_strategy": "by_heading",
    "chunk_size": 512,
    "chunk_overlap": 50,
    "min_chunk_size": 50,
    "page_timeout_ms": 30000,
    "max_page_size_mb": 50,
    "max_redirects": 10,
    "proxy_config_id": None,
    "render": False,
    "wait_for": None,
    "wait_seconds": 0.0,
    "is_default": False,
}
CONFIG: Final[Examples] = {
    "chunks by heading": {
        "request": _CONFIG,
        "answer": {
            "config_id": "config_0198c5a1d2e37f4a8b6c9d0e1f2a3b70",
            **_CONFIG,
            "created_at": _MADE,
            "updated_at": _MADE,
        },
    },
}

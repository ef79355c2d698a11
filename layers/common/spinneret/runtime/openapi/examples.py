"""Examples of the document: a request of each operation that takes a body, and its answer.

By operation id and by the example's name, which Swagger UI offers for choice. Every operation with
a body must have one, and all have to be valid: `tests/architecture/test_openapi.py` holds both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, kw_only=True)
class Example:
    """A body and what it is answered."""

    request: Mapping[str, Any]
    answer: Mapping[str, Any]


_JOB: Final = "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b4c"
_MADE: Final = "2026-01-02T12:00:00.000000Z"
_PAGE: Final = "https://example.com/guide"
_PASSAGE: Final = "Orb weavers take down their web every evening and weave it anew."

_CRAWL: Final = {
    "one URL": Example(
        request={"url": _PAGE, "priority": "high"},
        answer={"job_id": _JOB, "status": "pending", "message": "accepted", "cached": False},
    ),
    "several URLs": Example(
        request={"urls": [_PAGE, "https://example.com/faq", "http://localhost/"]},
        answer={
            "batch_id": "batch_0198c5a1d2e37f4a8b6c9d0e1f2a3b4e",
            "jobs": [
                {
                    "url": _PAGE,
                    "job_id": _JOB,
                    "status": "pending",
                    "message": "accepted",
                    "cached": False,
                    "error": None,
                },
                {
                    "url": "https://example.com/faq",
                    "job_id": "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b4d",
                    "status": "completed",
                    "message": "crawled within the last 24 hours",
                    "cached": True,
                    "error": None,
                },
                {
                    "url": "http://localhost/",
                    "job_id": None,
                    "status": None,
                    "message": "refused",
                    "cached": False,
                    "error": {
                        "error": "localhost leads to a host that must not be reached",
                        "code": "URL_BLOCKED",
                        "details": {},
                    },
                },
            ],
            "total_submitted": 2,
            "failed_count": 1,
        },
    ),
}

_SEARCH: Final = {
    "by meaning and by words": Example(
        request={"query": "how spiders weave silk", "limit": 5},
        answer={
            "results": [
                {
                    "document_id": "doc_5d41402abc4b2a76b9719d911017c592",
                    "chunk_id": "7d793037a0760186574b0282f2f435e7",
                    "url": _PAGE,
                    "title": "Orb weavers",
                    "content": _PASSAGE,
                    "section_header": "Silk",
                    "chunk_index": 3,
                    "start_char": 5120,
                    "end_char": 5120 + len(_PASSAGE),
                    "score": 0.0325,
                    "vector_score": 0.83,
                    "keyword_score": 7.1,
                    "source": "fused",
                    "highlights": [[50, 55]],
                }
            ],
            "total_count": 1,
            "latency_ms": 41.7,
        },
    )
}

_KEY: Final = {
    "for a reader": Example(
        request={"name": "dashboard", "scopes": ["read"], "expires_at": "2027-01-01T00:00:00Z"},
        answer={
            "key_id": "key_0198c5a1d2e37f4a8b6c9d0e1f2a3b50",
            "name": "dashboard",
            "prefix": "spn_EXAM",
            "scopes": ["read"],
            "requests_per_minute": 60,
            "created_at": _MADE,
            "expires_at": "2027-01-01T00:00:00.000000Z",
            "revoked_at": None,
            "secret": "spn_EXAMPLE-shown-this-once",
        },
    )
}

_DOMAIN: Final = {
    "domain": "example.com",
    "requests_per_second": 0.5,
    "burst": 2,
    "min_gap_seconds": None,
    "breaker_failures": None,
    "breaker_seconds": None,
    "notes": "asked us to be slow",
    "blocked": False,
    "blocked_reason": None,
    "blocked_at": None,
    "pace": {
        "requests_per_second": 0.5,
        "burst": 2,
        "min_gap_seconds": None,
        "breaker_failures": 5,
        "breaker_seconds": 300.0,
    },
    "updated_at": _MADE,
}
_PUT_DOMAIN: Final = {
    "a slower pace": Example(
        request={"requests_per_second": 0.5, "burst": 2, "notes": "asked us to be slow"},
        answer=_DOMAIN,
    )
}
_BLOCK: Final = {
    "by wish of the owner": Example(
        request={"reason": "by wish of the owner"},
        answer={
            **_DOMAIN,
            "blocked": True,
            "blocked_reason": "by wish of the owner",
            "blocked_at": _MADE,
        },
    )
}

_PROXY: Final = {
    "two servers in turn": Example(
        request={
            "name": "two towns",
            "servers": [
                {"url": "http://one.proxy.example:8080", "username": "ada", "password": "example"},
                {"url": "http://two.proxy.example:8080"},
            ],
            "rotation_strategy": "round_robin",
        },
        answer={
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
    )
}
_TRIAL: Final = {
    "a server of a config": Example(
        request={
            "url": "https://example.com/",
            "proxy_id": "proxy_0198c5a1d2e37f4a8b6c9d0e1f2a3b51",
            "position": 1,
        },
        answer={
            "server": "http://two.proxy.example:8080",
            "reachable": True,
            "status_code": 200,
            "latency_ms": 312,
            "error": None,
        },
    ),
    "a server that isn't stored": Example(
        request={
            "url": "https://example.com/",
            "server": {"url": "http://one.proxy.example:8080"},
        },
        answer={
            "server": "http://one.proxy.example:8080",
            "reachable": False,
            "status_code": None,
            "latency_ms": None,
            "error": {"error": "the proxy asks for credentials", "code": "PROXY_FAILED"},
        },
    ),
}

_ENDPOINT: Final = {
    "endpoint_id": "wh_0198c5a1d2e37f4a8b6c9d0e1f2a3b52",
    "name": "crawls",
    "url": "https://hooks.example.com/spinneret",
    "events": ["job.completed", "job.failed"],
    "header_names": ["X-Team"],
    "active": True,
    "disabled_reason": None,
    "old_secret_until": None,
    "created_at": _MADE,
    "updated_at": _MADE,
}
_CREATE_WEBHOOK: Final = {
    "with a header of its own": Example(
        request={
            "name": "crawls",
            "url": "https://hooks.example.com/spinneret",
            "headers": {"X-Team": "search"},
        },
        answer={**_ENDPOINT, "secret": "whsec_RVhBTVBMRS1zaG93bi10aGlzLW9uY2U="},
    )
}
_REPLACE_WEBHOOK: Final = {
    "to rest it": Example(
        request={
            "name": "crawls",
            "url": "https://hooks.example.com/spinneret",
            "active": False,
        },
        answer={**_ENDPOINT, "active": False, "updated_at": "2026-01-03T08:30:00.000000Z"},
    )
}

EXAMPLES: Final[Mapping[str, Mapping[str, Example]]] = {
    "submit_crawl": _CRAWL,
    "hybrid_search": _SEARCH,
    "issue_key": _KEY,
    "put_domain": _PUT_DOMAIN,
    "block_domain": _BLOCK,
    "create_proxy": _PROXY,
    "replace_proxy": _PROXY,
    "try_proxy": _TRIAL,
    "create_webhook": _CREATE_WEBHOOK,
    "replace_webhook": _REPLACE_WEBHOOK,
}

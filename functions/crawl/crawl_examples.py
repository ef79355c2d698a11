"""Examples of the document: crawls."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

_JOB: Final = "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b4c"
_PAGE: Final = "https://example.com/guide"
BATCH: Final[Examples] = {
    "one page": {
        "request": {"urls": [_PAGE], "priority": "low", "webhook_url": "https://example.com/hook"},
        "answer": {
            "batch_id": "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b4e",
            "jobs": [
                {
                    "url": _PAGE,
                    "job_id": _JOB,
                    "status": "pending",
                    "message": "accepted",
                    "cached": False,
                    "error": None,
                },
            ],
            "total_submitted": 1,
            "failed_count": 0,
        },
    },
}
DEEP: Final[Examples] = {
    "a guide": {
        "request": {
            "url": _PAGE,
            "strategy": "best_first",
            "keywords": ["install", "configure"],
            "max_pages": 50,
            "scope": "prefix",
            "exclude": ["/guide/archive/**"],
        },
        "answer": {"job_id": _JOB, "status": "pending", "message": "accepted", "cached": False},
    },
}
CRAWL: Final[Examples] = {
    "one URL": {
        "request": {"url": _PAGE, "priority": "high"},
        "answer": {"job_id": _JOB, "status": "pending", "message": "accepted", "cached": False},
    },
    "several URLs": {
        "request": {"urls": [_PAGE, "https://example.com/faq", "http://localhost/"]},
        "answer": {
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
    },
}

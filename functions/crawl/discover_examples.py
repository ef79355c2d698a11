"""Examples of the document: discoveries."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

DISCOVER: Final[Examples] = {
    "pages about silk": {
        "request": {
            "domain": "example.com",
            "sources": ["sitemap", "common_crawl"],
            "pattern": "/guide/**",
            "max_urls": 100,
            "score_query": "spider silk",
        },
        "answer": {
            "job_id": "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b80",
            "status": "pending",
            "message": "accepted",
        },
    }
}
SCORE: Final[Examples] = {
    "two URLs": {
        "request": {
            "urls": ["https://example.com/guide/spider-silk", "https://example.com/imprint"],
            "query": "spider silk",
        },
        "answer": {
            "scores": [
                {"url": "https://example.com/guide/spider-silk", "score": 1.0, "error": None},
                {"url": "https://example.com/imprint", "score": 0.0, "error": None},
            ]
        },
    }
}

"""Examples of the document: audits."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

AUDIT: Final[Examples] = {
    "a sample of 100 pages": {
        "request": {"url": "https://example.com/", "recipe": "seo", "fail_under": 90},
        "answer": {
            "audit_id": "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b6c",
            "status": "pending",
            "recipe": "seo",
            "recipe_version": 1,
            "message": "accepted",
        },
    },
    "a smoke test": {
        "request": {"url": "https://example.com/", "recipe": "hello", "mode": "debug"},
        "answer": {
            "audit_id": "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b6d",
            "status": "pending",
            "recipe": "hello",
            "recipe_version": 1,
            "message": "accepted",
        },
    },
}
PREVIEW: Final[Examples] = {
    "a site with a sitemap": {
        "request": {"url": "https://example.com/"},
        "answer": {
            "url": "https://example.com/",
            "start_url": "https://www.example.com/",
            "status_code": 200,
            "robots_status": 200,
            "is_allowed": True,
            "crawl_delay": 0.0,
            "sitemap_url": "https://www.example.com/sitemap.xml",
            "estimated_pages": 312,
            "estimated_by": "sitemap",
            "is_lower_bound": False,
            "requests": 3,
        },
    }
}

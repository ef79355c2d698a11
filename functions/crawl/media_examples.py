"""Examples of the document: media."""

from typing import Final

from spinneret.runtime.http.declaration import Examples

_JOB: Final = "job_0198c5a1d2e37f4a8b6c9d0e1f2a3b4c"
_PAGE: Final = "https://example.com/guide"
_ACCEPTED: Final = {"job_id": _JOB, "status": "pending", "message": "accepted"}
SCREENSHOT: Final[Examples] = {
    "one page": {
        "request": {
            "url": _PAGE,
            "wait_for": "main h1",
            "viewport": {"width": 1440, "height": 900},
            "format": "webp",
        },
        "answer": _ACCEPTED,
    },
    "several pages": {
        "request": {"urls": [_PAGE, "http://localhost/"], "full_page": False},
        "answer": {
            "batch_id": None,
            "jobs": [
                {
                    "url": _PAGE,
                    "job_id": _JOB,
                    "status": "pending",
                    "message": "accepted",
                    "error": None,
                },
                {
                    "url": "http://localhost/",
                    "job_id": None,
                    "status": None,
                    "message": "refused",
                    "error": {
                        "error": "localhost leads to a host that must not be reached",
                        "code": "URL_BLOCKED",
                        "details": {},
                    },
                },
            ],
            "total_submitted": 1,
            "failed_count": 1,
        },
    },
}
PDF: Final[Examples] = {
    "a page on A4": {
        "request": {"url": _PAGE, "margins": {"top": 20.0, "bottom": 20.0}},
        "answer": _ACCEPTED,
    },
}
SCRIPTS: Final[Examples] = {
    "two scripts": {
        "request": {
            "url": _PAGE,
            "wait_for": ".price",
            "scripts": ["document.title", "document.querySelector('.price').textContent"],
        },
        "answer": _ACCEPTED,
    },
}

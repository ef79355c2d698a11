"""Checks of single links: the server fetches them now, under its address rules."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spinneret_client.client import Spinneret
from spinneret_client.errors import ApiError, UrlRefused
from spinneret_client.events import FINAL
from spinneret_client.generated import models as m

BROKEN: Final = frozenset({"FETCH_FAILED", "HTTP_ERROR", "TOO_MANY_REDIRECTS", "URL_INVALID"})
"""Errors that mean a broken link; other errors don't."""
BLOCKED: Final = frozenset({"ROBOTS_DISALLOWED", "URL_BLOCKED", "DOMAIN_BLOCKED"})
REFUSED: Final = frozenset({401, 403, 429})
"""Statuses of a page that may exist, but rejects the crawler."""
PAUSE: Final = 0.5


@dataclass(frozen=True)
class LinkResult:
    """Outcome of one link: `ok`, `broken`, `blocked`, `unknown` or `unfinished`."""

    url: str
    outcome: str
    status_code: int | None = None
    reason: str | None = None
    job_id: str | None = None


def check(client: Spinneret, urls: Sequence[str], seconds: float) -> Iterator[LinkResult]:
    """Yield the outcome of each link as soon as possible; `unfinished` after `seconds`."""
    until = time.monotonic() + seconds
    open_jobs: dict[str, str] = {}
    for url in dict.fromkeys(urls):
        begun = _begun(client, url)
        if isinstance(begun, LinkResult):
            yield begun
        else:
            open_jobs[begun] = url
    while open_jobs:
        for job_id, url in list(open_jobs.items()):
            crawl = client.crawls.get(job_id)
            if crawl.status in FINAL:
                del open_jobs[job_id]
                yield _outcome(url, crawl)
        if open_jobs and time.monotonic() >= until:
            break
        if open_jobs:
            time.sleep(PAUSE)
    for job_id, url in open_jobs.items():
        yield LinkResult(url, "unfinished", reason=f"no result in {seconds:g} s", job_id=job_id)


def _begun(client: Spinneret, url: str) -> str | LinkResult:
    """Return the id of the job that fetches a link, or the outcome of a refused link."""
    try:
        made = client.crawls.create(url=url, force=True, priority="high")
    except UrlRefused as error:
        outcome = "broken" if error.code in BROKEN else "blocked"
        return LinkResult(url, outcome, reason=error.message)
    except ApiError as error:
        if error.status in (401, 403) or error.status >= 500:
            raise
        return LinkResult(url, "unknown", reason=error.message)
    assert isinstance(made, m.Submission)  # other requests have other responses
    return made.job_id


def _outcome(url: str, crawl: Any) -> LinkResult:
    if crawl.status == "completed":
        return LinkResult(url, "ok", crawl.status_code, job_id=crawl.job_id)
    code = crawl.error.code if crawl.error else ""
    reason = crawl.error.error if crawl.error else crawl.status
    if code in BLOCKED or crawl.status_code in REFUSED:
        outcome = "blocked"
    else:
        outcome = "broken" if code in BROKEN else "unknown"
    return LinkResult(url, outcome, crawl.status_code, reason, crawl.job_id)

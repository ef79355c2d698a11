"""Who may call which route: one table. A route that isn't listed isn't served."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from spinneret.tenancy.models import Scope


@dataclass(frozen=True)
class Access:
    """One route and the scope it asks for; None is open to everybody."""

    method: str
    route: str
    scope: Scope | None


ROUTES: Final = (
    Access("GET", "/health", None),
    Access("GET", "/health/ready", None),
    Access("GET", "/api/v1/health", None),
    Access("GET", "/api/v1/health/ready", None),
    Access("POST", "/api/v1/crawl", Scope.WRITE),
    Access("GET", "/api/v1/crawl/<job_id>", Scope.READ),
    Access("POST", "/api/v1/crawl/<job_id>/cancel", Scope.WRITE),
    Access("GET", "/api/v1/crawl/<job_id>/stream", Scope.READ),
    Access("GET", "/api/v1/jobs", Scope.READ),
    Access("GET", "/api/v1/jobs/failed", Scope.READ),
    Access("GET", "/api/v1/jobs/<job_id>", Scope.READ),
    Access("GET", "/api/v1/jobs/<job_id>/timeline", Scope.READ),
    Access("GET", "/api/v1/jobs/<job_id>/stream", Scope.READ),
    Access("POST", "/api/v1/jobs/<job_id>/cancel", Scope.WRITE),
    Access("POST", "/api/v1/jobs/<job_id>/pause", Scope.WRITE),
    Access("POST", "/api/v1/jobs/<job_id>/resume", Scope.WRITE),
    Access("POST", "/api/v1/jobs/<job_id>/retry", Scope.WRITE),
    Access("POST", "/api/v1/search", Scope.READ),
)


def find(method: str, path: str, routes: Iterable[Access] = ROUTES) -> Access | None:
    """The row for a request; a parameter matches one path segment."""
    for row in routes:
        pattern = re.sub(r"<\w+>", "[^/]+", row.route)
        if row.method == method and re.fullmatch(pattern, path):
            return row
    return None

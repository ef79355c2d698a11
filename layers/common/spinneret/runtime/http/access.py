"""Who may call which route: one table. A route that isn't listed isn't served."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from spinneret.access.keys.models import Scope


@dataclass(frozen=True)
class Access:
    """One route and the scope it asks for; None is open to everybody."""

    method: str
    route: str
    scope: Scope | None
    ticket: bool = False
    """Whether a ticket for the route's job, in the query, may stand in for a key."""

    def parameters(self, path: str) -> Mapping[str, str] | None:
        """The parameters of a path of this route, each one segment; None for another path."""
        found = re.fullmatch(re.sub(r"<(\w+)>", r"(?P<\1>[^/]+)", self.route), path)
        return found.groupdict() if found else None


ROUTES: Final = (
    Access("GET", "/health", None),
    Access("GET", "/health/ready", None),
    Access("GET", "/api/v1/health", None),
    Access("GET", "/api/v1/health/ready", None),
    Access("GET", "/api/v1/openapi.json", None),
    Access("GET", "/docs", None),
    Access("POST", "/api/v1/crawl", Scope.WRITE),
    Access("GET", "/api/v1/crawl/<job_id>", Scope.READ),
    Access("POST", "/api/v1/crawl/<job_id>/cancel", Scope.WRITE),
    Access("GET", "/api/v1/crawl/<job_id>/stream", Scope.READ, ticket=True),
    Access("GET", "/api/v1/jobs", Scope.READ),
    Access("GET", "/api/v1/jobs/failed", Scope.READ),
    Access("GET", "/api/v1/jobs/<job_id>", Scope.READ),
    Access("GET", "/api/v1/jobs/<job_id>/timeline", Scope.READ),
    Access("GET", "/api/v1/jobs/<job_id>/stream", Scope.READ, ticket=True),
    Access("POST", "/api/v1/jobs/<job_id>/tickets", Scope.READ),
    Access("POST", "/api/v1/jobs/<job_id>/cancel", Scope.WRITE),
    Access("POST", "/api/v1/jobs/<job_id>/pause", Scope.WRITE),
    Access("POST", "/api/v1/jobs/<job_id>/resume", Scope.WRITE),
    Access("POST", "/api/v1/jobs/<job_id>/retry", Scope.WRITE),
    Access("GET", "/api/v1/api-keys", Scope.ADMIN),
    Access("POST", "/api/v1/api-keys", Scope.ADMIN),
    Access("GET", "/api/v1/api-keys/<key_id>", Scope.ADMIN),
    Access("DELETE", "/api/v1/api-keys/<key_id>", Scope.ADMIN),
    Access("POST", "/api/v1/uploads", Scope.WRITE),
    Access("GET", "/api/v1/domains", Scope.READ),
    Access("GET", "/api/v1/domains/<domain>", Scope.READ),
    Access("PUT", "/api/v1/domains/<domain>", Scope.WRITE),
    Access("POST", "/api/v1/domains/<domain>/block", Scope.WRITE),
    Access("POST", "/api/v1/domains/<domain>/unblock", Scope.WRITE),
    Access("POST", "/api/v1/domains/<domain>/reset", Scope.ADMIN),
    Access("GET", "/api/v1/proxies", Scope.READ),
    Access("POST", "/api/v1/proxies", Scope.WRITE),
    Access("POST", "/api/v1/proxies/test", Scope.WRITE),
    Access("GET", "/api/v1/proxies/<proxy_id>", Scope.READ),
    Access("PUT", "/api/v1/proxies/<proxy_id>", Scope.WRITE),
    Access("DELETE", "/api/v1/proxies/<proxy_id>", Scope.WRITE),
    Access("GET", "/api/v1/webhooks", Scope.READ),
    Access("POST", "/api/v1/webhooks", Scope.WRITE),
    Access("POST", "/api/v1/webhooks/default-secret", Scope.ADMIN),
    Access("GET", "/api/v1/webhooks/<endpoint_id>", Scope.READ),
    Access("PUT", "/api/v1/webhooks/<endpoint_id>", Scope.WRITE),
    Access("DELETE", "/api/v1/webhooks/<endpoint_id>", Scope.WRITE),
    Access("POST", "/api/v1/webhooks/<endpoint_id>/rotate", Scope.WRITE),
    Access("POST", "/api/v1/webhooks/<endpoint_id>/test", Scope.WRITE),
    Access("GET", "/api/v1/webhooks/<endpoint_id>/deliveries", Scope.READ),
    Access(
        "POST",
        "/api/v1/webhooks/<endpoint_id>/deliveries/<delivery_id>/redeliver",
        Scope.WRITE,
    ),
    Access("POST", "/api/v1/search", Scope.READ),
)


def find(method: str, path: str, routes: Iterable[Access] = ROUTES) -> Access | None:
    """The row for a request."""
    for row in routes:
        if row.method == method and row.parameters(path) is not None:
            return row
    return None

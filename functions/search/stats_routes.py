"""Routes: a tenant's numbers.

They are in the function that searches, so that a tenant sees its searches at once if one process
serves all its requests.
"""

import time
from typing import Final

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.kernel import bounds
from spinneret.operations.statistics.api_models import (
    DomainStatsList,
    Stats,
    domain_stats_view,
    stats_view,
)
from spinneret.operations.statistics.wiring import statistics
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import Limit, Routes
from spinneret.web.hosts.api_models import domain_of

routes = Routes(statistics)
router = routes.router

_INDEX_SECONDS: Final = 3.0  # for the numbers of the index, which may be missing


@router.get("/api/v1/stats", **declared(Scope.READ, Permission.VIEW_JOBS))
def get_stats() -> Stats:
    """Return counters by day, gauges and durations of the last 30 days."""
    started = time.perf_counter()
    overview = routes.services.overview(
        routes.tenant, lambda: _INDEX_SECONDS - (time.perf_counter() - started)
    )
    return stats_view(overview)


@router.get(
    "/api/v1/stats/domains",
    **declared(Scope.READ, Permission.VIEW_CRAWLS),
)
def list_domain_stats(
    limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> DomainStatsList:
    """List hosts with their crawls and circuit breakers, sorted by name."""
    page = routes.services.hosts(routes.tenant, domain_of(cursor), limit)
    return DomainStatsList.page(page, domain_stats_view)

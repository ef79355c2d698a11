"""Routes: discovery of a site's pages, and relevance scores of URLs."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from crawl.discover_examples import DISCOVER, SCORE
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.discovery.api_models import (
    DiscoverRequest,
    DiscoverySubmission,
    DiscoveryView,
    ScoreList,
    ScoreRequest,
    discovery_view,
    score_view,
)
from spinneret.discovery.rules import is_position
from spinneret.discovery.wiring import discovery_service
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    CircuitOpen,
    DomainBlocked,
    FeatureDisabled,
    IdempotencyMismatch,
    UrlBlocked,
    UrlInvalid,
)
from spinneret.kernel.paging import position_of
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.requests import request_key, submitted
from spinneret.runtime.http.routes import Limit, Routes

routes = Routes(discovery_service)
router = routes.router


@router.post(
    "/api/v1/discover",
    **declared(
        Scope.WRITE,
        Permission.CRAWL,
        {202: DiscoverySubmission},
        UrlInvalid,
        UrlBlocked,
        DomainBlocked,
        CircuitOpen,
        FeatureDisabled,
        IdempotencyMismatch,
        idempotent=True,
        examples=DISCOVER,
    ),
)
def discover(request: DiscoverRequest) -> Response[dict[str, Any]]:
    """Discover the pages of a site in its sitemaps and in Common Crawl's index."""
    caller = routes.principal
    key = request_key(router, caller, "/api/v1/discover")
    return submitted(routes.services.submit(caller.tenant, request, key))


@router.post(
    "/api/v1/discover/score",
    **declared(
        Scope.READ, Permission.VIEW_CRAWLS, {200: ScoreList}, FeatureDisabled, examples=SCORE
    ),
)
def score_urls(request: ScoreRequest) -> ScoreList:
    """Score how relevant pages are to a query, using their URLs only."""
    scores = routes.services.scores(request.urls, request.query)
    return ScoreList(scores=[score_view(url, score) for url, score in scores])


@router.get(
    "/api/v1/discover/<job_id>",
    **declared(Scope.READ, Permission.VIEW_CRAWLS, {200: DiscoveryView}, FeatureDisabled),
)
def get_discovery(
    job_id: str, limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> DiscoveryView:
    """Return a discovery's state and, once it is completed, the pages found, best first."""
    after = int(position_of(cursor, is_position) or 0)
    return discovery_view(*routes.services.get(routes.tenant, job_id, after, limit))

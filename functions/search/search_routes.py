"""Routes: search."""

import time

from search.search_examples import KEYWORD, SEARCH, VECTOR
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.content.search.api_models import SearchRequest, SearchResponse
from spinneret.content.search.models import Leg, Query
from spinneret.content.search.views import response_of
from spinneret.content.search.wiring import search_api
from spinneret.kernel import bounds
from spinneret.kernel.errors import FeatureDisabled
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import Routes

routes = Routes(search_api)
router = routes.router


@router.post(
    "/api/v1/search",
    **declared(
        Scope.READ, Permission.SEARCH, {200: SearchResponse}, FeatureDisabled, examples=SEARCH
    ),
)
def hybrid_search(request: SearchRequest) -> SearchResponse:
    """Search by meaning and by keywords, and fuse both rankings."""
    return _searched(request.hybrid_of(*_tagged(request)))


@router.post(
    "/api/v1/search/vector",
    **declared(
        Scope.READ, Permission.SEARCH, {200: SearchResponse}, FeatureDisabled, examples=VECTOR
    ),
)
def vector_search(request: SearchRequest) -> SearchResponse:
    """Search by meaning only."""
    return _searched(request.query_of(*_tagged(request), Leg.VECTOR))


@router.post(
    "/api/v1/search/keyword",
    **declared(
        Scope.READ, Permission.SEARCH, {200: SearchResponse}, FeatureDisabled, examples=KEYWORD
    ),
)
def keyword_search(request: SearchRequest) -> SearchResponse:
    """Search by keywords only."""
    return _searched(request.query_of(*_tagged(request), Leg.KEYWORD))


def _tagged(request: SearchRequest) -> tuple[str, list[str]]:
    """Return the caller's tenant and the ids of the request's tags."""
    tenant = routes.tenant
    return tenant, routes.services.tags.ids_named(tenant, request.tags or ())


def _searched(query: Query) -> SearchResponse:
    started = time.perf_counter()
    found = routes.services.search.search(
        query, lambda: bounds.SEARCH_SECONDS - (time.perf_counter() - started)
    )
    return response_of(found, (time.perf_counter() - started) * 1000)

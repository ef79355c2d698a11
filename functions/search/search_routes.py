"""Routes: search."""

from __future__ import annotations

import time

from search.search_examples import SEARCH
from spinneret.access.keys.models import Scope
from spinneret.content.search.api_models import SearchRequest, SearchResponse
from spinneret.content.search.views import response_of
from spinneret.content.search.wiring import search_api
from spinneret.kernel import bounds
from spinneret.kernel.errors import EmbeddingRefused
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import Routes

routes = Routes(search_api)
router = routes.router


@router.post(
    "/api/v1/search",
    **declared(Scope.READ, {200: SearchResponse}, EmbeddingRefused, examples=SEARCH),
)
def hybrid_search(request: SearchRequest) -> SearchResponse:
    """Search by meaning and by words, fused by weighted reciprocal rank."""
    started = time.perf_counter()
    found = routes.services.search.search(
        request.query_of(routes.principal.tenant),
        lambda: bounds.SEARCH_SECONDS - (time.perf_counter() - started),
    )
    return response_of(found, (time.perf_counter() - started) * 1000)

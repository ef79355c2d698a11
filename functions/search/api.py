"""API function of the search area."""

from search import (
    caches_routes,
    collections_routes,
    documents_routes,
    search_routes,
    stats_routes,
    tags_routes,
)
from spinneret.runtime.http.entrypoint import Api

api = Api(
    "search-api",
    search_routes.routes,
    documents_routes.routes,
    collections_routes.routes,
    tags_routes.routes,
    caches_routes.routes,
    stats_routes.routes,
)
app = api.app
handler = api.handler

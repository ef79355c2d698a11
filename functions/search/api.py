"""API function of the search area."""

from __future__ import annotations

from search import search_routes
from spinneret.runtime.http.entrypoint import Api

api = Api(
    "search-api",
    search_routes.routes,
)
app = api.app
handler = api.handler

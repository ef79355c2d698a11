"""API function of the search area."""

from __future__ import annotations

from search.search_routes import router
from spinneret.content.search.wiring import search_api
from spinneret.runtime.http.entrypoint import entrypoint, resolver

app = resolver()
app.include_router(router)
handler = entrypoint(app, search_api, "search-api")

"""API function of the search area."""

from __future__ import annotations

from search.search_routes import router
from spinneret.runtime.http import entrypoint, resolver
from spinneret.search.wiring import search_api

app = resolver()
app.include_router(router)
handler = entrypoint(app, search_api, "search-api")

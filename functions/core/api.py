"""API function of the core area: health, jobs, API keys, uploads, the API's document."""

from __future__ import annotations

from core import docs_routes, health_routes, jobs_routes, keys_routes, uploads_routes
from spinneret.operations.wiring import core_api
from spinneret.runtime.http.entrypoint import entrypoint, resolver

app = resolver()
app.include_router(health_routes.router)
app.include_router(jobs_routes.router)
app.include_router(keys_routes.router)
app.include_router(uploads_routes.router)
app.include_router(docs_routes.router)
handler = entrypoint(app, core_api, "core-api")

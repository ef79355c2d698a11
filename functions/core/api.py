"""API function of the core area: health, jobs, API keys."""

from __future__ import annotations

from core import health_routes, jobs_routes, keys_routes
from spinneret.operations.wiring import core_api
from spinneret.runtime.http import entrypoint, resolver

app = resolver()
app.include_router(health_routes.router)
app.include_router(jobs_routes.router)
app.include_router(keys_routes.router)
handler = entrypoint(app, core_api, "core-api")

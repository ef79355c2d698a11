"""API function of the core area: health."""

from __future__ import annotations

from core.health_routes import router
from spinneret.operations.wiring import core_api
from spinneret.runtime.http import entrypoint, resolver

app = resolver()
app.include_router(router)
handler = entrypoint(app, core_api, "core-api")

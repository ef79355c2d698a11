"""API function of the crawl area."""

from __future__ import annotations

from crawl.crawl_routes import router
from spinneret.crawl.wiring import crawl_api
from spinneret.runtime.http import entrypoint, resolver

app = resolver()
app.include_router(router)
handler = entrypoint(app, crawl_api, "crawl-api")

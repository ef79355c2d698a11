"""API function of the crawl area."""

from __future__ import annotations

from crawl import crawl_routes, domains_routes, proxies_routes, webhooks_routes
from spinneret.crawl.wiring import crawl_api
from spinneret.runtime.http.entrypoint import entrypoint, resolver

app = resolver()
app.include_router(crawl_routes.router)
app.include_router(domains_routes.router)
app.include_router(proxies_routes.router)
app.include_router(webhooks_routes.router)
handler = entrypoint(app, crawl_api, "crawl-api")

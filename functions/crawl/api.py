"""API function of the crawl area."""

from crawl import (
    configs_routes,
    crawl_routes,
    discover_routes,
    domains_routes,
    inbox_routes,
    media_routes,
    proxies_routes,
    sources_routes,
    webhooks_routes,
)
from spinneret.runtime.http.entrypoint import Api

api = Api(
    "crawl-api",
    crawl_routes.routes,
    configs_routes.routes,
    discover_routes.routes,
    domains_routes.routes,
    inbox_routes.routes,
    media_routes.routes,
    proxies_routes.routes,
    sources_routes.routes,
    webhooks_routes.routes,
)
app = api.app
handler = api.handler

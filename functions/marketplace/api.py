"""API function of the marketplace area."""

from marketplace import (
    batches_routes,
    connections_routes,
    marketplace_routes,
    products_routes,
)
from spinneret.runtime.http.entrypoint import Api

api = Api(
    "marketplace-api",
    products_routes.routes,
    marketplace_routes.routes,
    batches_routes.routes,
    connections_routes.routes,
)
app = api.app
handler = api.handler

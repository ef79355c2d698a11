"""API function of the watch area."""

from spinneret.runtime.http.entrypoint import Api
from watch import (
    heartbeats_routes,
    imports_routes,
    notices_routes,
    status_routes,
    targets_routes,
    windows_routes,
)

api = Api(
    "watch-api",
    targets_routes.routes,
    imports_routes.routes,
    windows_routes.routes,
    status_routes.routes,
    notices_routes.routes,
    heartbeats_routes.routes,
)
app = api.app
handler = api.handler

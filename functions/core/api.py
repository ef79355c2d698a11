"""API function of the core area: health, jobs, API keys, uploads, the API's document."""

from core import docs_routes, health_routes, jobs_routes, keys_routes, uploads_routes
from spinneret.runtime.http.entrypoint import Api

api = Api(
    "core-api",
    health_routes.routes,
    jobs_routes.routes,
    keys_routes.routes,
    uploads_routes.routes,
    docs_routes.routes,
)
app = api.app
handler = api.handler

"""API function of the audits area."""

from audits import audits_routes, schedules_routes
from spinneret.runtime.http.entrypoint import Api

api = Api("audits-api", schedules_routes.routes, audits_routes.routes)
app = api.app
handler = api.handler

"""API function of people: sessions and users."""

from people import auth_routes, users_routes
from spinneret.runtime.http.entrypoint import Api

api = Api("people-api", auth_routes.routes, users_routes.routes)
app = api.app
handler = api.handler

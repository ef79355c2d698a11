"""API function of sign-in: the routes that hash passwords, which no other function does."""

from sign_in import auth_routes
from spinneret.runtime.http.entrypoint import Api

api = Api("sign-in-api", auth_routes.routes)
app = api.app
handler = api.handler

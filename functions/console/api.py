"""API function of the console: the static files of the web pages."""

from console import console_routes
from spinneret.runtime.http.entrypoint import Api

api = Api("console-api", console_routes.routes)
app = api.app
handler = api.handler

"""API function of the streams: requests that wait for events of jobs, apart from all others."""

from spinneret.runtime.http.entrypoint import Api
from streams import streams_routes

api = Api("streams-api", streams_routes.routes)
app = api.app
handler = api.handler

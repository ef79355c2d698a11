"""WebSocket function: live progress of jobs."""

from spinneret.operations.live_wiring import live_api
from spinneret.runtime.sockets import socket_entrypoint

handler = socket_entrypoint(live_api, "live")

"""A scripted server as an HTTP proxy; its requests' targets are the addresses of tunnels."""

import select
import socket
import ssl

from spinneret.web.fetching.models import Proxy
from tests.fakes.scripted_server import HOST, IO_SECONDS, Behaviour, Exchange, ScriptedServer, head


def tunnel(site: ScriptedServer) -> Behaviour:
    """Return a behaviour that opens a tunnel to the site, even if another address was requested."""

    def behave(exchange: Exchange) -> None:
        with socket.create_connection((HOST, site.port), IO_SECONDS) as there:
            exchange.send(head(200))
            _relay(exchange.sock, there)

    return behave


def proxy_at(server: ScriptedServer, **given: str) -> Proxy:
    """Return the server as a proxy, with or without credentials."""
    scheme = "https" if server.tls else "http"
    return Proxy(scheme=scheme, host=HOST, port=server.port, **given)


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Copy in both directions until a side ends; TLS sockets need a single thread for it."""
    while True:
        pending = [one] if isinstance(one, ssl.SSLSocket) and one.pending() else []
        ready = pending or select.select([one, other], [], [], IO_SECONDS)[0]
        if not ready:
            return
        for sock in ready:
            data = sock.recv(65536)
            if not data:
                return
            (other if sock is one else one).sendall(data)

"""A scripted server as an HTTP proxy: its targets are the addresses that tunnels are asked to."""

import select
import socket
import ssl

from spinneret.web.fetching.models import Proxy
from tests.fakes.scripted_server import HOST, IO_SECONDS, Behaviour, Exchange, ScriptedServer, head


def tunnel(site: ScriptedServer) -> Behaviour:
    """Open the tunnel, but to the host, wherever it was asked to."""

    def behave(exchange: Exchange) -> None:
        with socket.create_connection((HOST, site.port), IO_SECONDS) as there:
            exchange.send(head(200))
            _relay(exchange.sock, there)

    return behave


def proxy_at(server: ScriptedServer, **given: str) -> Proxy:
    """The server as a proxy, with or without credentials."""
    scheme = "https" if server.tls else "http"
    return Proxy(scheme=scheme, host=HOST, port=server.port, **given)


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Copy both ways in one thread, as TLS sockets want it, until either side ends."""
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

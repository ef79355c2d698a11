"""The gateway listens on the host given in GATEWAY_LISTEN, not on every address.

Upstream: runtime/server/twisted.py, TwistedRuntimeServer.register creates a TCP4ServerEndpoint from
the port only and ignores an IPv4 host.
Effect: an unauthenticated AWS emulator that runs code is open to the network.
"""

import functools
import inspect
from types import SimpleNamespace
from typing import Any

from localstack import config
from localstack.runtime.server import twisted
from localstack.runtime.server.twisted import TwistedRuntimeServer
from localstack.utils.patch import patch


def apply() -> None:
    module: Any = twisted

    @patch(TwistedRuntimeServer.register)
    def register(
        original: Any,
        server: TwistedRuntimeServer,
        gateway: Any,
        listen: list[config.HostAndPort],
        ssl_creds: tuple[str, str] | None = None,
    ) -> None:
        endpoints = module.endpoints
        try:
            for address in listen:
                # Upstream's method finds its endpoint classes under this name.
                module.endpoints = _bound_to(address.host, endpoints)
                original(server, gateway, [address], ssl_creds)
        finally:
            module.endpoints = endpoints


def is_needed() -> bool:
    return "TCP4ServerEndpoint(reactor, host_and_port.port)" in inspect.getsource(
        TwistedRuntimeServer.register
    )


def _bound_to(host: str, endpoints: Any) -> SimpleNamespace:
    return SimpleNamespace(
        TCP4ServerEndpoint=functools.partial(endpoints.TCP4ServerEndpoint, interface=host),
        TCP6ServerEndpoint=endpoints.TCP6ServerEndpoint,
    )

"""The container engine as SAM finds it, and the route from its containers to this machine."""

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from stack.errors import UsageError

# Where SAM (1.145) looks for Docker and for Finch; it ignores DOCKER_HOST.
SOCKETS: Final = (Path("/var/run/docker.sock"), Path("/var/run/finch.sock"))
BEYOND: Final = "host.docker.internal"
"""Name of this machine in containers of Docker Desktop."""
_SECONDS: Final = 5.0
_CHUNK: Final = 65536


class Engine:
    """The first engine that answers the Docker API. Methods raise UsageError if none does."""

    def __init__(self, sockets: Sequence[Path] | None = None) -> None:
        self._sockets = SOCKETS if sockets is None else sockets

    def require(self) -> None:
        """Raise UsageError, which names what is missing, unless an engine answers."""
        self._get("/_ping")

    def has_image(self, name: str) -> bool:
        """Whether the image is available without a download."""
        return self._get(f"/images/{name}/json", missing=True) is not None

    def gateway(self) -> str | None:
        """Return this machine's address on the network of containers, or None."""
        network = self._get("/networks/bridge", missing=True) or {}
        plans = network.get("IPAM", {}).get("Config") or [{}]
        found: str | None = plans[0].get("Gateway")
        return found

    def _get(self, path: str, *, missing: bool = False) -> Any:
        connection = self._connection()
        try:
            connection.request("GET", path, headers={"Host": "engine"})
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise self._missing() from error
        finally:
            connection.close()
        if answer.status == http.client.NOT_FOUND and missing:
            return None
        if answer.status != http.client.OK:
            raise UsageError(f"the container engine answered {answer.status} to {path}: {text}")
        return json.loads(text) if text.startswith("{") else text

    def _connection(self) -> http.client.HTTPConnection:
        for path in self._sockets:
            connection = _OverSocket(path)
            try:
                connection.connect()
            except OSError:
                connection.close()
                continue
            return connection
        raise self._missing()

    def _missing(self) -> UsageError:
        places = " or ".join(map(str, self._sockets))
        return UsageError(
            f"no container engine answers at {places}, where SAM looks for one: `sam local invoke` "
            "runs functions in containers. Start Docker or Finch, or link Podman's socket there; "
            "`make invoke` needs none"
        )


class _OverSocket(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Connect over the Unix socket."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(_SECONDS)
        self.sock.connect(str(self._path))


# ---------------------------------------------------------------- The way back


@contextmanager
def reachable(engine: Engine, ports: set[int]) -> Iterator[Callable[[str], str]]:
    """Yield a function that replaces loopback addresses of these ports by ones for containers.

    The stack listens on loopback only. If containers have a bridge to this machine, a relay listens
    on the bridge meanwhile. Otherwise (Docker Desktop) the engine itself forwards to this machine.
    """
    gateway = engine.gateway()
    with ExitStack() as relays:
        try:
            known = {port: relays.enter_context(_relay(gateway or "", port)) for port in ports}
            host = gateway
        except OSError:  # the bridge is in the engine's own virtual machine
            known, host = {port: port for port in ports}, BEYOND

        def translated(text: str) -> str:
            for port, other in known.items():
                text = text.replace(f"127.0.0.1:{port}", f"{host}:{other}")
            return text

        yield translated


@contextmanager
def _relay(host: str, port: int) -> Iterator[int]:
    """Relay connections to a port of loopback; yield the port of the relay. Raises OSError."""
    if not host:
        raise OSError("no bridge")
    with socket.create_server((host, 0)) as server:
        threading.Thread(target=_accept, args=(server, port), daemon=True).start()
        yield int(server.getsockname()[1])


def _accept(server: socket.socket, port: int) -> None:
    with suppress(OSError):  # ends when the server is closed
        while True:
            near, _ = server.accept()
            try:
                far = socket.create_connection(("127.0.0.1", port), timeout=_SECONDS)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            threading.Thread(target=_carry, args=(near, far), daemon=True).start()


def _carry(near: socket.socket, far: socket.socket) -> None:
    """Copy both directions of one connection until both have ended."""
    with near, far:
        back = threading.Thread(target=_pass, args=(far, near), daemon=True)
        back.start()
        _pass(near, far)
        back.join()


def _pass(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_CHUNK):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)

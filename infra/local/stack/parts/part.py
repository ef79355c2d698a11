"""Description of one part of the stack."""

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from stack.errors import ProbeError
from stack.instance import Instance
from stack.port_claims import Claim
from stack.ports import HOST, Ports
from stack.process import Spawn
from stack.tools.store import Store, Tool

LISTEN_SECONDS: Final = 2.0


@dataclass(frozen=True)
class Site:
    """Instance, ports and tools with which a part runs."""

    instance: Instance
    ports: Ports
    store: Store
    claim: Claim | None = None
    """Claim of the ports; each part inherits it."""

    def data(self, part: str) -> Path:
        return self.instance.data / part


@dataclass(frozen=True)
class Part:
    """A part of the stack.

    `port` is the name of its address in Ports, and `inner_ports` are its other bound ports;
    `boot_seconds` is the maximum duration of a start. `spawn` creates the part's folders. `probe`
    makes a real round trip through the part at an address; it raises ProbeError as long as the part
    does not work.
    """

    name: str
    title: str
    port: str
    tools: tuple[Tool, ...]
    spawn: Callable[[Site], Spawn]
    probe: Callable[[str], None]
    boot_seconds: float
    needs_java: bool = False
    inner_ports: tuple[str, ...] = ()

    @property
    def bound_ports(self) -> tuple[str, ...]:
        """Names of all ports that it binds."""
        return (self.port, *self.inner_ports)

    def url(self, ports: Ports) -> str:
        return f"http://{HOST}:{getattr(ports, self.port)}"


def minimal_environment(home: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that every program needs; the caller's are excluded for equal starts."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", **extra}


@contextmanager
def probing(*client_errors: type[Exception]) -> Iterator[None]:
    """Convert the errors of a probe's client to ProbeError."""
    try:
        yield
    except client_errors as error:
        raise ProbeError(f"{type(error).__name__}: {error}") from error


def require_listener(url: str) -> None:
    """Raise ProbeError when no process listens; a client would need much longer to notice."""
    address = urlsplit(url)
    with (
        probing(OSError),
        socket.create_connection((address.hostname, address.port), LISTEN_SECONDS),
    ):
        pass

"""What the stack needs to know about one of its parts."""

from __future__ import annotations

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
    """Where a part runs."""

    instance: Instance
    ports: Ports
    store: Store
    claim: Claim | None = None
    """The ports' claim, which each part inherits."""

    def data(self, part: str) -> Path:
        return self.instance.data / part


@dataclass(frozen=True)
class Part:
    """`port` names its address in Ports, and `inner_ports` what it binds besides; `boot_seconds` is
    the most that a start may take.

    `spawn` lays out the part's folders. `probe` makes a real round trip through the part at an
    address; it raises ProbeError as long as the part does not work.
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
    """What any program needs and nothing of the caller's, so that every start is the same."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", **extra}


@contextmanager
def probing(*client_errors: type[Exception]) -> Iterator[None]:
    """Turns the errors of a probe's client into ProbeError."""
    try:
        yield
    except client_errors as error:
        raise ProbeError(f"{type(error).__name__}: {error}") from error


def require_listener(url: str) -> None:
    """Raises ProbeError when nothing listens: to find that out by a client takes much longer."""
    address = urlsplit(url)
    with (
        probing(OSError),
        socket.create_connection((address.hostname, address.port), LISTEN_SECONDS),
    ):
        pass

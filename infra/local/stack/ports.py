"""Ports of an instance: choose them, and check that they are free."""

import errno
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Final

from stack.errors import UsageError
from stack.port_claims import HOST, Claim, bind_error

__all__ = ["HOST", "VARIABLES", "Ports", "choose", "refuse_taken", "requested"]


@dataclass(frozen=True)
class Ports:
    """One port for each listening part, all on loopback."""

    gateway: int = 4566
    opensearch: int = 9209
    embedder: int = 8085
    websocket: int = 8086
    dynamodb: int = 8087
    """DynamoDB Local, behind the gateway."""
    website: int = 8484
    markets: int = 8486
    """The demonstration's marketplaces, of the same part as its website."""


VARIABLES: Final = {
    "gateway": "SPINNERET_GATEWAY_PORT",
    "opensearch": "SPINNERET_OPENSEARCH_PORT",
    "embedder": "SPINNERET_EMBEDDER_PORT",
    "websocket": "SPINNERET_WEBSOCKET_PORT",
    "dynamodb": "SPINNERET_DYNAMODB_PORT",
    "website": "SPINNERET_SITE_PORT",
    "markets": "SPINNERET_MARKETS_PORT",
}


def requested(environ: Mapping[str, str]) -> dict[str, int]:
    """Return only the ports that the environment names."""
    chosen = {}
    for name, variable in VARIABLES.items():
        text = environ.get(variable, "").strip()
        if text:
            chosen[name] = _parse(text, variable)
    return chosen


def _parse(text: str, variable: str) -> int:
    if text.isascii() and text.isdecimal() and 1 <= int(text) <= 65535:
        return int(text)
    raise UsageError(f"{variable}={text} is not a port: give a number from 1 to 65535")


def choose(
    wanted: Mapping[str, int],
    *,
    held: Ports | None,
    claim: Claim | None,
    former: Ports | None = None,
) -> Ports:
    """Return the ports of this start.

    Ports of a running part are kept: a request for others is an error. Otherwise a named port wins,
    and the rest are of the claimed block, of the former start, or the defaults.
    """
    if held is not None:
        _refuse_change(wanted, held)
        return held
    rest = {} if former is None else asdict(former)
    if claim is not None:
        rest = dict(zip(VARIABLES, claim.ports, strict=False))
    return Ports(**{**rest, **wanted})


def _refuse_change(wanted: Mapping[str, int], held: Ports) -> None:
    for name, port in wanted.items():
        current = getattr(held, name)
        if port != current:
            raise UsageError(
                f"this instance runs with {name} on port {current}, but {VARIABLES[name]}={port}: "
                "stop it first (down), or unset the variable"
            )


def refuse_taken(ports: Ports, names: Iterable[str]) -> None:
    """Raise UsageError when two parts have the same port, or a named port is in use."""
    numbers = asdict(ports)
    seen: dict[int, str] = {}
    for name in VARIABLES:
        other = seen.setdefault(numbers[name], name)
        if other != name:
            raise UsageError(
                f"port {numbers[name]} is given to both {other} and {name}: "
                f"change {VARIABLES[other]} or {VARIABLES[name]}"
            )
    for name in names:
        error = bind_error(numbers[name])
        if error is not None:
            taken = error.errno == errno.EADDRINUSE
            why = "is taken by another program" if taken else f"cannot be used ({error.strerror})"
            raise UsageError(
                f"port {numbers[name]} ({name}) {why}: "
                f"set {VARIABLES[name]} to a free port, or use --free-ports"
            )

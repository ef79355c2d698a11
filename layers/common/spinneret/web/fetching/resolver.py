"""Name resolution by the system, within a time limit."""

import socket
from concurrent.futures import Future
from threading import Thread
from typing import Final

from spinneret.kernel.errors import FetchFailed
from spinneret.web.fetching.ports import Resolver

# Errors of getaddrinfo for a name that doesn't exist or has no address (RFC 3493, section 6.1); a
# failing name server gives EAI_AGAIN or EAI_FAIL.
_UNKNOWN: Final = frozenset({socket.EAI_NONAME, socket.EAI_NODATA})


def resolve_by_system(host: str, port: int) -> list[str]:
    """Return all addresses of the host in the system's order of preference; implements `Resolver`.

    The call has no time-out of its own (resolv.conf sets one, commonly 5 s per try): see
    `resolve_within`.
    """
    try:
        # Bytes: a str would be encoded once more, by the standard library's older IDNA rules.
        answers = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM)
    except OSError as error:
        unknown = isinstance(error, socket.gaierror) and error.errno in _UNKNOWN
        raise FetchFailed(
            f"{host} could not be resolved",
            details={"reason": "unknown_host" if unknown else "dns"},
        ) from error
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in answers))


def resolve_within(resolver: Resolver, host: str, port: int, seconds: float) -> list[str]:
    """Resolve within `seconds`. Raises TimeoutError, or what the resolver raises.

    A lookup can't be interrupted and a hostile name server can be slow, so it runs in its own
    thread. The thread is abandoned at the time limit; the system's resolver ends it soon after.
    """
    outcome: Future[list[str]] = Future()

    def look_up() -> None:
        try:
            outcome.set_result(resolver(host, port))
        except BaseException as error:  # noqa: BLE001 (raised again by the waiting thread)
            outcome.set_exception(error)

    Thread(target=look_up, name="name-resolution", daemon=True).start()
    return outcome.result(timeout=seconds)

"""Connections that are opened, measured and closed, under the address rules."""

import time
from collections.abc import Callable

import httpcore

from spinneret.kernel.errors import FetchFailed
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.connection import Deadline, GuardedBackend
from spinneret.web.fetching.models import Phases
from spinneret.web.fetching.phases import PhaseTimer
from spinneret.web.fetching.ports import Resolver


class GuardedConnector:
    """Implements `Connector` on real sockets; no byte is sent on a connection."""

    def __init__(
        self,
        policy: AddressPolicy,
        resolver: Resolver,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        tcp: httpcore.NetworkBackend | None = None,
    ) -> None:
        self._policy = policy.of_any_port()
        self._resolver = resolver
        self._monotonic = monotonic
        self._tcp = httpcore.SyncBackend() if tcp is None else tcp

    def connect(self, host: str, port: int, seconds: float) -> Phases:
        """See `Connector.connect`."""
        deadline = Deadline(
            host, total_seconds=seconds, read_seconds=seconds, monotonic=self._monotonic
        )
        timer = PhaseTimer(self._monotonic)
        backend = GuardedBackend(self._policy, self._resolver, deadline, self._tcp, timer)
        try:
            backend.connect_tcp(host, port).close()
        except httpcore.TimeoutException as error:
            raise deadline.overrun("did not accept a connection") from error
        except (httpcore.NetworkError, OSError) as error:
            message = f"the connection to {host} failed"
            raise FetchFailed(message, details={"reason": "connection"}) from error
        timer.head_received()
        return timer.phases()

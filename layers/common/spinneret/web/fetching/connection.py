"""Connections that go only to checked addresses and end at a deadline."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from typing import Any, Final

import httpcore

from spinneret.kernel.errors import FetchFailed, FetchTimeout, UrlBlocked
from spinneret.web.fetching.addresses import AddressPolicy, parse_address
from spinneret.web.fetching.nested_tls import NestedTlsStream
from spinneret.web.fetching.ports import Resolver
from spinneret.web.fetching.resolver import resolve_within

CONNECT_ATTEMPTS: Final = 3  # addresses of one host that are tried


class Deadline:
    """The end of a whole fetch, and the longest silence before it (both in seconds).

    `host` is the one of the requested URL: the only one that messages name.
    """

    def __init__(
        self,
        host: str,
        *,
        total_seconds: float,
        read_seconds: float,
        monotonic: Callable[[], float],
    ) -> None:
        self.host = host
        self._total_seconds = total_seconds
        self._read_seconds = read_seconds
        self._monotonic = monotonic
        self._began_at = monotonic()
        self._ends_at = self._began_at + total_seconds

    def remaining(self) -> float:
        """Seconds left, more than 0; raises FetchTimeout when there are none."""
        left = self._ends_at - self._monotonic()
        if left <= 0:
            raise self.overrun("did not answer")
        return left

    def overrun(self, what: str) -> FetchTimeout:
        """The error for a host that did, or didn't do, `what` until a time-out."""
        total, read = f"{self._total_seconds:g} s", f"{self._read_seconds:g} s"
        return FetchTimeout(f"{self.host} {what} in time: {total} in all, {read} of silence")

    def allowance(self, attempts: int = 1) -> float:
        """The time-out of one blocking call, where `attempts` share what is left."""
        return min(self._read_seconds, self.remaining() / attempts)

    def elapsed_ms(self) -> int:
        """Whole milliseconds since the fetch began."""
        return round((self._monotonic() - self._began_at) * 1000)


class GuardedBackend(httpcore.NetworkBackend):
    """Resolves once per connection, checks every answer and connects to a checked address.

    One refused address refuses the host: who mixes public and private answers is attacking, and
    which of them the next look-up gives is up to them.
    """

    def __init__(
        self,
        policy: AddressPolicy,
        resolver: Resolver,
        deadline: Deadline,
        tcp: httpcore.NetworkBackend,
    ) -> None:
        self._policy = policy
        self._resolver = resolver
        self._deadline = deadline
        self._tcp = tcp

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 (the deadline holds instead)
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """As httpcore, but for `timeout`."""
        candidates = self._checked_addresses(host, port)[:CONNECT_ATTEMPTS]
        for position, address in enumerate(candidates, start=1):
            try:
                stream = self._tcp.connect_tcp(
                    address,
                    port,
                    timeout=self._deadline.allowance(len(candidates) - position + 1),
                    local_address=local_address,
                    socket_options=socket_options,
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if position == len(candidates):
                    raise
            else:
                return GuardedStream(stream, self._deadline)
        raise FetchFailed(f"{self._deadline.host} has no address")

    def _checked_addresses(self, host: str, port: int) -> list[str]:
        addresses = self._addresses(host, port)
        if not all(self._policy.permits(host, port, address) for address in addresses):
            raise UrlBlocked(f"{self._deadline.host} leads to an address that must not be reached")
        return addresses

    def _addresses(self, host: str, port: int) -> list[str]:
        if parse_address(host) is not None:
            return [host]
        try:
            return resolve_within(self._resolver, host, port, self._deadline.remaining())
        except TimeoutError as error:
            raise self._deadline.overrun("was not resolved") from error
        except FetchFailed as error:  # its message may name a host that a redirect led to
            raise FetchFailed(f"{self._deadline.host} could not be resolved") from error


class GuardedStream(httpcore.NetworkStream):
    """A stream on which every blocking call gets only what the deadline leaves.

    A server that sends a byte now and then never runs into a read time-out; here each byte
    shortens the next wait. A request fits into the socket's buffer, so one send is one call.
    """

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ARG002 (the deadline holds instead)
    ) -> bytes:
        """As httpcore, but for `timeout`."""
        return self._stream.read(max_bytes, timeout=self._deadline.allowance())

    def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ARG002 (the deadline holds instead)
    ) -> None:
        """As httpcore, but for `timeout`."""
        self._stream.write(buffer, timeout=self._deadline.allowance())

    def close(self) -> None:
        """As httpcore."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002 (the deadline holds instead)
    ) -> httpcore.NetworkStream:
        """As httpcore; the standard library holds the time-out over the whole handshake."""
        secured: httpcore.NetworkStream
        try:
            if self.get_extra_info("ssl_object") is not None:
                secured = NestedTlsStream(self, ssl_context, server_hostname)
            else:
                secured = self._stream.start_tls(
                    ssl_context, server_hostname, timeout=self._deadline.allowance()
                )
        except httpcore.ConnectError as error:
            host = self._deadline.host
            raise FetchFailed(f"{host} failed in TLS", details={"reason": "tls"}) from error
        except FetchTimeout:
            self.close()  # else closed by the inner stream; httpcore's pool doesn't know it yet
            raise
        return GuardedStream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        """As httpcore."""
        return self._stream.get_extra_info(info)

"""Connections that use only checked addresses and end at a deadline."""

import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final

import httpcore

from spinneret.kernel import bounds
from spinneret.kernel.errors import CallerDeadlineExceeded, FetchFailed, FetchTimeout, UrlBlocked
from spinneret.web.fetching.addresses import AddressPolicy, allowance, parse_address
from spinneret.web.fetching.nested_tls import NestedTlsStream
from spinneret.web.fetching.phases import Phase, PhaseTimer
from spinneret.web.fetching.ports import Resolver
from spinneret.web.fetching.resolver import resolve_within

CONNECT_ATTEMPTS: Final = 3  # maximum number of addresses tried per host


class Deadline:
    """The end of a whole fetch, and the longest silence before it (both in seconds).

    Pauses aren't the host's time. They don't count as elapsed, and up to REDIRECT_WAITS_SECONDS of
    them don't count against the end. `host` is the host of the requested URL, the only one that
    messages name.
    """

    def __init__(
        self,
        host: str,
        *,
        total_seconds: float,
        read_seconds: float,
        monotonic: Callable[[], float],
        is_cut_short: bool = False,
    ) -> None:
        """`is_cut_short` means that the caller's end comes before any end of the host."""
        self.host = host
        self._is_cut_short = is_cut_short
        self._total_seconds = total_seconds
        self._read_seconds = read_seconds
        self._monotonic = monotonic
        self._began_at = monotonic()
        self._ends_at = self._began_at + total_seconds
        self._spare = bounds.REDIRECT_WAITS_SECONDS

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Exclude the time of the block from the host's time."""
        began_at = self._monotonic()
        try:
            yield
        finally:
            spent = self._monotonic() - began_at
            spared = min(spent, self._spare)
            self._began_at += spent
            self._ends_at += spared
            self._spare -= spared

    def remaining(self) -> float:
        """Return the remaining seconds, more than 0. Raises FetchTimeout when none remain."""
        left = self._ends_at - self._monotonic()
        if left <= 0:
            raise self.overrun("did not answer")
        return left

    def overrun(self, what: str) -> FetchTimeout:
        """Build the error for a host that didn't do `what` before a time-out, naming which one."""
        error = CallerDeadlineExceeded if self._is_cut_short else FetchTimeout
        is_silence = self._read_seconds < self._total_seconds and self._monotonic() < self._ends_at
        if is_silence:
            return error(f"{self.host} {what}: it was silent for {_seconds(self._read_seconds)}")
        return error(f"{self.host} {what} within {_seconds(self._total_seconds)}")

    def allowance(self, attempts: int = 1) -> float:
        """Return the time-out of one blocking call when `attempts` share the remaining time."""
        return min(self._read_seconds, self.remaining() / attempts)

    def elapsed_ms(self) -> int:
        """Return whole milliseconds since the fetch began, without pauses."""
        return round((self._monotonic() - self._began_at) * 1000)


def _seconds(seconds: float) -> str:
    return f"{round(seconds, 2):g} s"


class GuardedBackend(httpcore.NetworkBackend):
    """Network backend that resolves once per connection and connects only to checked addresses.

    One rejected address rejects the host: a mix of public and private addresses is an attack, and
    the attacker chooses which address the next lookup returns.
    """

    def __init__(
        self,
        policy: AddressPolicy,
        resolver: Resolver,
        deadline: Deadline,
        tcp: httpcore.NetworkBackend,
        timer: PhaseTimer | None = None,
    ) -> None:
        """`timer` measures connections to the host, not to a proxy."""
        self._timer = timer
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
        """See httpcore; `timeout` is ignored."""
        with _measured(self._timer, Phase.DNS):
            candidates = self._checked_addresses(host, port)[:CONNECT_ATTEMPTS]
        with _measured(self._timer, Phase.CONNECT):
            stream = self._connected(candidates, port, local_address, socket_options)
        return GuardedStream(stream, self._deadline, self._timer)

    def _connected(
        self,
        candidates: list[str],
        port: int,
        local_address: str | None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None,
    ) -> httpcore.NetworkStream:
        """Return a connection to the first address that answers."""
        for position, address in enumerate(candidates, start=1):
            try:
                return self._tcp.connect_tcp(
                    address,
                    port,
                    timeout=self._deadline.allowance(len(candidates) - position + 1),
                    local_address=local_address,
                    socket_options=socket_options,
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if position == len(candidates):
                    raise
        raise FetchFailed(f"{self._deadline.host} has no address")

    def _checked_addresses(self, host: str, port: int) -> list[str]:
        addresses = self._addresses(host, port)
        if not all(self._policy.permits(host, port, address) for address in addresses):
            raise UrlBlocked(
                f"{self._deadline.host} leads to an address that must not be reached",
                # An answer doesn't show where a redirect led to.
                details={"hint": allowance("HOST:PORT")},
            )
        return addresses

    def _addresses(self, host: str, port: int) -> list[str]:
        if parse_address(host) is not None:
            return [host]
        try:
            return resolve_within(self._resolver, host, port, self._deadline.remaining())
        except TimeoutError as error:
            raise self._deadline.overrun("was not resolved") from error
        except FetchFailed as error:  # its message may name a host that a redirect led to
            raise FetchFailed(
                f"{self._deadline.host} could not be resolved", details=error.details
            ) from error


class GuardedStream(httpcore.NetworkStream):
    """A stream whose blocking calls get only the time that the deadline leaves.

    A server that sends single bytes never exceeds a read time-out; here each byte shortens the next
    wait. A request fits into the socket's buffer, so one send is one call.
    """

    def __init__(
        self,
        stream: httpcore.NetworkStream,
        deadline: Deadline,
        timer: PhaseTimer | None = None,
    ) -> None:
        self._stream = stream
        self._deadline = deadline
        self._timer = timer

    def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ARG002 (the deadline holds instead)
    ) -> bytes:
        """See httpcore; `timeout` is ignored."""
        return self._stream.read(max_bytes, timeout=self._deadline.allowance())

    def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ARG002 (the deadline holds instead)
    ) -> None:
        """See httpcore; `timeout` is ignored."""
        self._stream.write(buffer, timeout=self._deadline.allowance())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002 (the deadline holds instead)
    ) -> httpcore.NetworkStream:
        """See httpcore; the standard library applies the time-out to the whole handshake.

        Raises FetchFailed with the reason `tls` and, for a rejected certificate, OpenSSL's
        `verify_code` (10: expired, 62: another host's).
        """
        try:
            with _measured(self._timer, Phase.TLS):
                secured = self._secured(ssl_context, server_hostname)
        except httpcore.ConnectError as error:
            details: dict[str, str | int] = {"reason": "tls"}
            if isinstance(error.__cause__, ssl.SSLCertVerificationError):
                details["verify_code"] = error.__cause__.verify_code
            raise FetchFailed(f"{self._deadline.host} failed in TLS", details=details) from error
        except FetchTimeout:
            self.close()  # httpcore's pool has no reference to it yet
            raise
        return GuardedStream(secured, self._deadline)

    def _secured(self, context: ssl.SSLContext, name: str | None) -> httpcore.NetworkStream:
        if name is not None:
            name = name.removesuffix(".")  # of the root: RFC 6066, section 3; no certificate has it
        if self.get_extra_info("ssl_object") is not None:
            return NestedTlsStream(self, context, name)
        return self._stream.start_tls(context, name, timeout=self._deadline.allowance())

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _measured(timer: PhaseTimer | None, phase: Phase) -> AbstractContextManager[None]:
    return nullcontext() if timer is None else timer.measure(phase)

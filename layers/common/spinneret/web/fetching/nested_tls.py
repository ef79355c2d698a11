"""TLS inside TLS: to a host, through a tunnel of an https proxy.

httpcore has such a stream too, but gives every read of a handshake its own time-out. A proxy that
sends single bytes could then hold a fetch far beyond its deadline. Here every read and write is a
call of the underlying stream, which obeys the deadline.
"""

import ssl
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import httpcore

_READ_BYTES: Final = 65536


class NestedTlsStream(httpcore.NetworkStream):
    """TLS stream over another stream, which enforces the time-outs.

    The constructor performs the handshake. It raises ConnectError and what the underlying stream
    raises.
    """

    def __init__(
        self, below: httpcore.NetworkStream, context: ssl.SSLContext, server_hostname: str | None
    ) -> None:
        self._below = below
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(
            self._incoming, self._outgoing, server_hostname=server_hostname
        )
        try:
            self._run(self._tls.do_handshake)
        except Exception as error:
            self.close()
            if isinstance(error, ssl.SSLError):
                raise httpcore.ConnectError("the TLS handshake failed") from error
            raise

    def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ARG002 (see the class)
    ) -> bytes:
        """See httpcore; an end without a closing alert is an end, as in the standard library."""
        try:
            return self._run(partial(self._tls.read, max_bytes))
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
            return b""
        except ssl.SSLError as error:
            raise httpcore.ReadError("broken TLS") from error

    def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ARG002 (see the class)
    ) -> None:
        try:
            while buffer:
                buffer = buffer[self._run(partial(self._tls.write, buffer)) :]
        except ssl.SSLError as error:
            raise httpcore.WriteError("broken TLS") from error

    def close(self) -> None:
        """See httpcore; sends no closing alert."""
        self._below.close()

    def get_extra_info(self, info: str) -> Any:
        return self._tls if info == "ssl_object" else self._below.get_extra_info(info)

    def _run[T](self, step: Callable[[], T]) -> T:
        """Run one protocol step, with as many underlying reads and writes as it needs."""
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._flush()
                self._receive()
            else:
                self._flush()
                return result

    def _flush(self) -> None:
        if self._outgoing.pending:
            self._below.write(self._outgoing.read())

    def _receive(self) -> None:
        data = self._below.read(_READ_BYTES)
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

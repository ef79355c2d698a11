"""Records of the DNS (RFC 1035): one question to the system's name servers.

The system's resolver gives addresses only. Of the protocol this needs a question and six types of
answers; name servers follow CNAMEs and cache.
"""

import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Final

from spinneret.kernel.errors import FetchFailed, FetchTimeout

TYPES: Final = {"A": 1, "NS": 2, "CNAME": 5, "MX": 15, "TXT": 16, "AAAA": 28}
Server = tuple[str, int]
"""Address and port of a name server."""

_CONFIG: Final = Path("/etc/resolv.conf")
_PORT: Final = 53
_SERVERS: Final = 3  # as the system's resolver
_IN: Final = 1
_RECURSION_DESIRED: Final = 0x0100
_RESPONSE, _TRUNCATED, _RCODE = 0x8000, 0x0200, 0x000F
_UNKNOWN_NAME: Final = 3
_HEADER: Final = struct.Struct("!6H")
_RECORD: Final = struct.Struct("!HHIH")
_POINTER: Final = 0xC0
_LABEL_MAX: Final = 63
_NAME_MAX: Final = 255
_UDP_BYTES: Final = 512  # without EDNS; a longer answer is truncated and asked for over TCP
_TRY_SECONDS: Final = 2.0  # for one server over UDP, which may lose a datagram


class DnsRecords:
    """Implements `RecordResolver`; `random` returns as many bytes as asked for."""

    def __init__(
        self,
        random: Callable[[int], bytes],
        *,
        servers: Callable[[], Sequence[Server]] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._random = random
        self._servers = servers or system_servers
        self._monotonic = monotonic

    def __call__(self, name: str, record_type: str, seconds: float) -> list[str]:
        """See `RecordResolver`; a server that fails is followed by the next one."""
        ends_at = self._monotonic() + seconds
        question = _question(name, TYPES[record_type])
        failure: FetchTimeout | FetchFailed = _failed(name, "dns")
        for server in self._servers()[:_SERVERS]:
            left = ends_at - self._monotonic()
            if left <= 0:
                break
            try:
                message = self._asked(question, server, left)
                return _values(message, name, TYPES[record_type])
            except TimeoutError:
                failure = FetchTimeout(f"no name server answered for {name} in time")
            except (OSError, _Malformed):
                failure = _failed(name, "dns")
        raise failure

    def _asked(self, question: bytes, server: Server, seconds: float) -> bytes:
        """Return a server's answer. Raises OSError, whose subclass is TimeoutError."""
        query = self._random(2) + _HEADER.pack(0, _RECURSION_DESIRED, 1, 0, 0, 0)[2:] + question
        ends_at = self._monotonic() + seconds
        message = self._over_udp(query, server, min(seconds, _TRY_SECONDS))
        if not _HEADER.unpack_from(message)[1] & _TRUNCATED:
            return message
        return self._over_tcp(query, server, ends_at)

    def _over_udp(self, query: bytes, server: Server, seconds: float) -> bytes:
        ends_at = self._monotonic() + seconds
        with closing(socket.socket(_family(server), socket.SOCK_DGRAM)) as udp:
            udp.connect(server)  # so that only its datagrams arrive
            udp.send(query)
            while True:
                udp.settimeout(_left(ends_at, self._monotonic()))
                message = udp.recv(_UDP_BYTES)
                if _answers(message, query):
                    return message

    def _over_tcp(self, query: bytes, server: Server, ends_at: float) -> bytes:
        left = _left(ends_at, self._monotonic())
        with closing(socket.create_connection(server, timeout=left)) as tcp:
            tcp.sendall(struct.pack("!H", len(query)) + query)
            [length] = struct.unpack("!H", self._read(tcp, 2, ends_at))
            message = self._read(tcp, length, ends_at)
        if not _answers(message, query):
            raise _Malformed
        return message

    def _read(self, tcp: socket.socket, length: int, ends_at: float) -> bytes:
        found = b""
        while len(found) < length:
            tcp.settimeout(_left(ends_at, self._monotonic()))
            part = tcp.recv(length - len(found))
            if not part:
                raise _Malformed
            found += part
        return found


def system_servers() -> list[Server]:
    """Return the name servers of resolv.conf(5)."""
    lines = (line.split() for line in _CONFIG.read_text().splitlines())
    return [(line[1], _PORT) for line in lines if line[:1] == ["nameserver"] and len(line) > 1]


class _Malformed(Exception):
    """Raised for an answer that isn't a message of the DNS, or a server's failure."""


def _question(name: str, number: int) -> bytes:
    labels = name.removesuffix(".").encode("ascii").split(b".")
    if not all(0 < len(label) <= _LABEL_MAX for label in labels):
        raise _failed(name, "unknown_host")
    wire = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    if len(wire) > _NAME_MAX:
        raise _failed(name, "unknown_host")
    return wire + struct.pack("!HH", number, _IN)


def _answers(message: bytes, query: bytes) -> bool:
    """Return whether this is the response to this query: same id, same question."""
    if len(message) < _HEADER.size or message[:2] != query[:2]:
        return False
    question = query[_HEADER.size :]
    same = message[_HEADER.size : _HEADER.size + len(question)].lower() == question.lower()
    return bool(_HEADER.unpack_from(message)[1] & _RESPONSE) and same


def _values(message: bytes, name: str, number: int) -> list[str]:
    """Return the values of the answer's records of this type."""
    _, flags, _, answers, _, _ = _HEADER.unpack_from(message)
    if flags & _RCODE == _UNKNOWN_NAME:
        raise _failed(name, "unknown_host")
    if flags & _RCODE:
        raise _Malformed
    try:
        return [
            _value(message, at, length, number) for at, length in _found(message, answers, number)
        ]
    except (IndexError, struct.error, ValueError) as error:
        raise _Malformed from error


def _found(message: bytes, answers: int, number: int) -> Iterator[tuple[int, int]]:
    """Yield where the data of the wanted records begin, and their length."""
    _, at = _name(message, _HEADER.size)
    at += 4  # type and class of the question
    for _ in range(answers):
        _, at = _name(message, at)
        kind, where, _, length = _RECORD.unpack_from(message, at)
        at += _RECORD.size
        if at + length > len(message):
            raise _Malformed
        if kind == number and where == _IN:
            yield at, length
        at += length


def _value(message: bytes, at: int, length: int, number: int) -> str:
    data = message[at : at + length]
    if number == TYPES["A"]:
        return str(IPv4Address(data))
    if number == TYPES["AAAA"]:
        return str(IPv6Address(data))
    if number == TYPES["TXT"]:
        return b"".join(_strings(data)).decode(errors="replace")
    if number == TYPES["MX"]:
        [preference] = struct.unpack_from("!H", data)
        return f"{preference} {_name(message, at + 2)[0]}"
    return _name(message, at)[0]


def _strings(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        yield data[at + 1 : at + 1 + data[at]]
        at += 1 + data[at]


def _name(message: bytes, at: int) -> tuple[str, int]:
    """Return the name at a place, and the place behind it.

    A pointer leads only to an earlier place, so that a circle of pointers ends.
    """
    labels: list[str] = []
    behind, earliest = None, at
    while length := message[at]:
        if length & _POINTER == _POINTER:
            behind = behind or at + 2
            at = (length & ~_POINTER) << 8 | message[at + 1]
            if at >= earliest:
                raise _Malformed
            earliest = at
            continue
        if length > _LABEL_MAX or sum(map(len, labels)) > _NAME_MAX:
            raise _Malformed
        label = message[at + 1 : at + 1 + length]
        labels.append(label.decode("ascii", errors="backslashreplace").lower())
        at += 1 + length
    return ".".join(labels), behind or at + 1


def _left(ends_at: float, now: float) -> float:
    if ends_at <= now:
        raise TimeoutError
    return ends_at - now


def _family(server: Server) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in server[0] else socket.AF_INET


def _failed(name: str, reason: str) -> FetchFailed:
    return FetchFailed(f"{name} could not be resolved", details={"reason": reason})

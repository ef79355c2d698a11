"""Look-ups of DNS records and checks of TCP ports, as servers on loopback see them (M-06)."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from spinneret.kernel.errors import DomainError, FetchFailed, FetchTimeout, UrlBlocked
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.records import DnsRecords, Server
from spinneret.web.fetching.tcp import GuardedConnector

LOOPBACK = "127.0.0.1"
POINTER = b"\xc0\x0c"  # pointer to the question's name
NUMBERS = {"A": 1, "NS": 2, "CNAME": 5, "MX": 15, "TXT": 16, "AAAA": 28}

Answer = Callable[[bytes], bytes | None]
"""Function that returns the response to a query; for None the server sends nothing."""


@dataclass
class NameServer:
    """A name server that answers over UDP, and over TCP on the same port."""

    over_udp: Answer
    over_tcp: Answer
    stack: ExitStack
    queries: list[str] = field(default_factory=list)
    address: Server = (LOOPBACK, 0)

    def start(self) -> None:
        tcp, udp = _bound_pair()
        self.stack.enter_context(tcp)
        self.stack.enter_context(udp)
        self.address = udp.getsockname()
        for serve, at in ((self._udp, udp), (self._tcp, tcp)):
            threading.Thread(target=serve, args=(at,), daemon=True).start()

    def _udp(self, udp: socket.socket) -> None:
        while True:
            try:
                query, client = udp.recvfrom(512)
            except OSError:  # the test closed the socket
                return
            self.queries.append("udp")
            if message := self.over_udp(query):
                udp.sendto(message, client)

    def _tcp(self, server: socket.socket) -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:  # the test closed the socket
                return
            with client:
                query = client.recv(514)[2:]
                self.queries.append("tcp")
                message = self.over_tcp(query) or b""
                client.sendall(struct.pack("!H", len(message)) + message)


def _bound_pair() -> tuple[socket.socket, socket.socket]:
    """Return TCP and UDP sockets on one port; retry, as other programs may take the port."""
    for _ in range(100):
        tcp = socket.create_server((LOOPBACK, 0))
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            udp.bind(tcp.getsockname())
        except OSError:
            tcp.close()
            udp.close()
        else:
            return tcp, udp
    raise AssertionError("no port is free for both")


@pytest.fixture
def serve() -> Iterator[Callable[..., NameServer]]:
    with ExitStack() as stack:

        def start(over_udp: Answer, over_tcp: Answer = lambda _: None) -> NameServer:
            server = NameServer(over_udp, over_tcp, stack)
            server.start()
            return server

        yield start


def message(query: bytes, *records: tuple[str, bytes], flags: int = 0x8180) -> bytes:
    head = query[:2] + struct.pack("!5H", flags, 1, len(records), 0, 0)
    rows = (
        POINTER + struct.pack("!HHIH", NUMBERS[kind], 1, 60, len(data)) + data
        for kind, data in records
    )
    return head + query[12:] + b"".join(rows)


def asked(*servers: NameServer, kind: str = "TXT", seconds: float = 5.0) -> list[str]:
    records = DnsRecords([each.address for each in servers])
    return records("a.example", kind, seconds)


# covers M-06
@pytest.mark.parametrize(
    ("kind", "data", "value"),
    [
        ("A", socket.inet_aton("93.184.216.34"), "93.184.216.34"),
        ("AAAA", socket.inet_pton(socket.AF_INET6, "2606:4700::1111"), "2606:4700::1111"),
        ("CNAME", b"\x03WWW" + POINTER, "www.a.example"),
        ("NS", b"\x03ns1\x03net\0", "ns1.net"),
        ("MX", b"\0\x0a\x02mx" + POINTER, "10 mx.a.example"),
        ("TXT", b"\x02v=\x04spf1", "v=spf1"),
    ],
)
def test_a_record_of_each_type_is_read(
    serve: Callable[..., NameServer], kind: str, data: bytes, value: str
) -> None:
    other = ("NS", b"\x01x\0") if kind != "NS" else ("TXT", b"\x01x")
    server = serve(lambda query: message(query, other, (kind, data)))
    assert asked(server, kind=kind) == [value]


def test_a_truncated_answer_is_asked_for_over_tcp(serve: Callable[..., NameServer]) -> None:
    server = serve(
        lambda query: message(query, flags=0x8380),
        lambda query: message(query, ("TXT", b"\x04long")),
    )
    assert asked(server) == ["long"]
    assert server.queries == ["udp", "tcp"]


def test_a_name_without_such_a_record_has_no_values(serve: Callable[..., NameServer]) -> None:
    assert asked(serve(message)) == []


@pytest.mark.parametrize(("code", "reason"), [(3, "unknown_host"), (2, "dns")])
def test_a_name_that_cannot_be_read_fails_with_the_reason(
    serve: Callable[..., NameServer], code: int, reason: str
) -> None:
    with pytest.raises(FetchFailed) as failed:
        asked(serve(lambda query: message(query, flags=0x8180 | code)))
    assert failed.value.details["reason"] == reason


def forged(query: bytes) -> bytes:
    """Return a response with a wrong id."""
    return bytes([query[0] ^ 1]) + message(query, ("TXT", b"\x04evil"))[1:]


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("TXT", forged),
        ("CNAME", lambda query: message(query, ("CNAME", b"\xc0\xff"))),
        ("CNAME", lambda query: message(query, ("CNAME", b"\xc0\x27"))),  # points at itself
        ("A", lambda query: message(query, ("A", b"\1"))),
        ("TXT", lambda query: message(query, ("TXT", b"\x01x"))[:-1]),
    ],
)
def test_a_datagram_that_is_no_answer_to_the_question_is_ignored(
    serve: Callable[..., NameServer], kind: str, answer: Answer
) -> None:
    with pytest.raises(FetchTimeout):
        asked(serve(answer), kind=kind, seconds=0.2)


def test_the_next_server_is_asked_when_one_fails(serve: Callable[..., NameServer]) -> None:
    broken = serve(lambda query: message(query, flags=0x8182))
    works = serve(lambda query: message(query, ("TXT", b"\x02ok")))
    assert asked(broken, works) == ["ok"]


# covers M-06
@pytest.mark.parametrize(
    ("allowed", "resolved", "error"),
    [
        (True, LOOPBACK, None),
        (False, LOOPBACK, UrlBlocked),
        (False, "169.254.169.254", UrlBlocked),
    ],
)
def test_a_connection_goes_to_the_address_that_was_checked(
    allowed: bool, resolved: str, error: type[DomainError] | None
) -> None:
    lookups: list[str] = []

    def resolver(host: str, port: int) -> list[str]:
        lookups.append(host)
        return [resolved if len(lookups) == 1 else "203.0.113.1"]

    with socket.create_server((LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
        pairs = frozenset({f"db.example:{port}"} if allowed else ())
        connector = GuardedConnector(AddressPolicy(pairs), resolver)
        if error is None:
            assert connector.connect("db.example", port, 5.0).connect_ms >= 0
            server.settimeout(5)
            server.accept()[0].close()
        else:
            with pytest.raises(error):
                connector.connect("db.example", port, 5.0)
    assert lookups == ["db.example"]


def test_a_closed_port_fails_with_its_reason() -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
    policy = AddressPolicy(frozenset({f"{LOOPBACK}:{port}"}))
    with pytest.raises(FetchFailed) as failed:
        GuardedConnector(policy, lambda _, __: []).connect(LOOPBACK, port, 5.0)
    assert failed.value.details["reason"] == "connection"


def test_a_port_that_http_may_not_use_is_connected_to() -> None:
    policy = AddressPolicy()
    assert not policy.permits("a.example", 22, "93.184.216.34")
    assert policy.of_any_port().permits("a.example", 22, "93.184.216.34")
    assert not policy.of_any_port().permits("a.example", 22, "10.0.0.1")

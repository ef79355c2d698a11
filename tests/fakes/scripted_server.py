"""A raw-socket HTTP server on loopback; tests script the behaviour of each path."""

import contextlib
import itertools
import socket
import ssl
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Event, Thread
from types import TracebackType
from typing import Self

HOST = "127.0.0.1"
IO_SECONDS = 10.0  # limits how long a forgotten socket blocks a test


@dataclass(frozen=True)
class SeenRequest:
    """A request as the server received it; header names are in lower case."""

    target: str
    headers: Mapping[str, str]
    method: str = "GET"
    body: bytes = b""


@dataclass
class Exchange:
    """A request that a behaviour is answering."""

    sock: socket.socket
    request: SeenRequest
    stopping: Event

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def pause(self, seconds: float) -> None:
        """Wait for `seconds`. Raises ConnectionAbortedError when the server is closing."""
        if self.stopping.wait(seconds):
            raise ConnectionAbortedError


Behaviour = Callable[[Exchange], None]


@dataclass
class ScriptedServer:
    """A context manager that listens from its entry; its exit ends all threads."""

    behaviours: dict[str, Behaviour] = field(default_factory=dict)
    """Behaviours by path, without the query."""
    fallback: Behaviour | None = None
    """Behaviour of every other path; None answers 404."""
    tls: ssl.SSLContext | None = None
    on_connect: Callable[[socket.socket, Event], None] | None = None
    """Function that takes over a connection before TLS and HTTP."""
    requests: list[SeenRequest] = field(default_factory=list)
    connections: int = 0

    def __enter__(self) -> Self:
        self._stopping = Event()
        self._threads: list[Thread] = []
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]
        self._acceptor = Thread(target=self._accept, daemon=True)
        self._acceptor.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept()
        self._acceptor.join(IO_SECONDS)
        self._listener.close()
        for sock in list(self._open):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(IO_SECONDS)

    @property
    def pair(self) -> str:
        """Return the `host:port` that a policy may allow."""
        return f"{HOST}:{self.port}"

    def url(self, path: str = "/", host: str = HOST) -> str:
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}{path}"

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = Thread(target=self._serve, args=(sock,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, sock: socket.socket) -> None:
        sock.settimeout(IO_SECONDS)
        self._open.add(sock)
        try:
            if self.on_connect is not None:
                self.on_connect(sock, self._stopping)
                return
            if self.tls is not None:
                self._open.discard(sock)
                sock = self.tls.wrap_socket(sock, server_side=True)
                self._open.add(sock)
            self._answer(sock)
        except OSError:
            pass  # the client disconnected or refused TLS, or the server is closing
        finally:
            self._open.discard(sock)
            sock.close()

    def _answer(self, sock: socket.socket) -> None:
        request = _read_request(sock)
        if request is None:
            return
        self.requests.append(request)
        path = request.target.partition("?")[0]
        behaviour = self.behaviours.get(path, self.fallback or not_found)
        behaviour(Exchange(sock, request, self._stopping))


def _read_request(sock: socket.socket) -> SeenRequest | None:
    head = b""
    while b"\r\n\r\n" not in head:
        data = sock.recv(65536)
        if not data:
            return None
        head += data
    start, _, body = head.partition(b"\r\n\r\n")
    first, *lines = start.decode("latin-1").split("\r\n")
    fields = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in fields}
    while len(body) < int(headers.get("content-length", "0")):
        data = sock.recv(65536)
        if not data:
            return None
        body += data
    method, target, _ = first.split(" ")
    return SeenRequest(target=target, headers=headers, method=method, body=body)


def head(status: int, *fields: str) -> bytes:
    """Return a status line and header lines."""
    return "\r\n".join((f"HTTP/1.1 {status} Scripted", *fields, "", "")).encode("latin-1")


def raw(data: bytes) -> Behaviour:
    """Return a behaviour that sends these bytes; the server then closes the connection."""
    return lambda exchange: exchange.send(data)


def answer(
    body: bytes = b"", *fields: str, status: int = 200, content_type: str | None = "text/html"
) -> Behaviour:
    """Return a behaviour that sends a complete response with its length."""
    typed = () if content_type is None else (f"Content-Type: {content_type}",)
    return raw(head(status, *typed, f"Content-Length: {len(body)}", *fields) + body)


def not_found(exchange: Exchange) -> None:
    answer(b"nothing here", status=404)(exchange)


def redirect(location: str, *fields: str, status: int = 302) -> Behaviour:
    """Return a behaviour that redirects, with a body that clients don't need."""
    located = f"Location: {location.encode().decode('latin-1')}"  # UTF-8 in the sent bytes
    return answer(b"moved", located, *fields, status=status)


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Return a behaviour that uses these for one request each, and repeats the last one."""
    turns = itertools.chain(behaviours, itertools.repeat(behaviours[-1]))
    return lambda exchange: next(turns)(exchange)  # noqa: PLW0108 (a turn for each request)


def drip(start: bytes, pieces: Iterable[bytes], seconds: float) -> Behaviour:
    """Return a behaviour that sends the start at once, and each piece after `seconds`."""

    def behave(exchange: Exchange) -> None:
        exchange.send(start)
        for piece in pieces:
            exchange.pause(seconds)
            exchange.send(piece)

    return behave


def endless_chunks(size: int) -> Behaviour:
    """Return a behaviour that sends an endless chunked body as fast as the client reads."""

    def behave(exchange: Exchange) -> None:
        exchange.send(head(200, "Content-Type: text/html", "Transfer-Encoding: chunked"))
        chunk = b"%x\r\n%b\r\n" % (size, b"x" * size)
        for _ in itertools.count():
            exchange.send(chunk)

    return behave


def silence(exchange: Exchange) -> None:
    """Keep the connection open without a response."""
    exchange.pause(IO_SECONDS)

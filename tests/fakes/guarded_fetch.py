"""A guarded fetcher for tests on real sockets, with scripted name resolution and routes."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import cast

import httpcore

from spinneret.kernel.errors import DomainError
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import parse_url
from tests.fakes.scripted_server import HOST, Behaviour, ScriptedServer

MEGABYTE = 1024 * 1024
PUBLIC = "93.184.216.34"
OTHER_PUBLIC = "93.184.216.35"
PAGE = b"<!doctype html><title>A page</title><p>Text."
USER_AGENT = "Spinneret-Test/1 (+https://example.com/bot)"


class ConnectWatch:
    """Record all socket connects of this process while watching; refuse those to other machines."""

    def __init__(self) -> None:
        self._seen: list[tuple[str, int]] | None = None
        sys.addaudithook(self._audit)  # permanent: a hook can't be removed

    @contextmanager
    def watching(self) -> Iterator[list[tuple[str, int]]]:
        """Yield a list that records the addresses and ports of all connects within the context."""
        self._seen = []
        try:
            yield self._seen
        finally:
            self._seen = None

    def _audit(self, event: str, arguments: tuple[object, ...]) -> None:
        if event != "socket.connect" or self._seen is None:
            return
        host, port = cast("tuple[str, int]", arguments[1])[:2]
        self._seen.append((host, port))
        if not host.startswith("127."):
            raise ConnectionRefusedError("no way out of this machine")


@cache
def connect_watch() -> ConnectWatch:
    """Return the only watch of the process."""
    return ConnectWatch()


class ScriptedResolver:
    """A resolver that returns its answers in turn, and repeats the last one."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = answers
        self.questions: list[tuple[str, int]] = []

    def __call__(self, host: str, port: int) -> list[str]:
        self.questions.append((host, port))
        return self._answers[min(len(self.questions), len(self._answers)) - 1]


class RoutedTcp(httpcore.SyncBackend):
    """A backend that connects the given addresses to the server, and reaches no other machine."""

    def __init__(self, server: ScriptedServer, *addresses: str) -> None:
        self._server = server
        self._addresses = addresses
        self.asked: list[str] = []

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        self.asked.append(host)
        if host in self._addresses:
            host, port = HOST, self._server.port
        elif not host.startswith("127."):
            raise httpcore.ConnectError("no route")
        return super().connect_tcp(host, port, timeout, local_address, socket_options)


def no_names(host: str, port: int) -> list[str]:
    raise AssertionError(f"{host} was looked up")


def fetcher(*servers: ScriptedServer, **others: object) -> GuardedFetcher:
    """Return a fetcher that may reach the servers by their addresses."""
    arguments: dict[str, object] = {
        "policy": AddressPolicy(frozenset(server.pair for server in servers)),
        "resolver": no_names,
        "user_agent": USER_AGENT,
    }
    return GuardedFetcher(**(arguments | others))  # type: ignore[arg-type]  # by name, as each test needs


def request(url: str, **bounds: object) -> FetchRequest:
    defaults = {
        "url": parse_url(url),
        "total_seconds": 5.0,
        "read_seconds": 5.0,
        "max_bytes": MEGABYTE,
    }
    return FetchRequest(**(defaults | bounds))  # type: ignore[arg-type]  # by name, as each test needs


def fetch(server: ScriptedServer, behaviour: Behaviour, **bounds: object) -> FetchedPage:
    server.behaviours["/page"] = behaviour
    return fetcher(server).fetch(request(server.url("/page"), **bounds))


def names_no_address(error: DomainError, *ports: int) -> bool:
    shown = f"{error.message} {error.details}"
    return not any(text in shown for text in ("127.0.0.", "::1", *map(str, ports)))

"""The browser's proxy, tested without a browser: its connections, relays and limits."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from spinneret.kernel.errors import FetchFailed, PageTooLarge, UrlBlocked
from spinneret.web.browser import egress as bounds
from spinneret.web.browser import limits, relay
from spinneret.web.browser.egress import EgressProxy
from spinneret.web.browser.watch import Watch
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.ports import Resolver
from spinneret.web.fetching.urls import parse_url
from tests.fakes.guarded_fetch import PUBLIC, ScriptedResolver, names_no_address
from tests.fakes.scripted_server import (
    HOST,
    ScriptedServer,
    answer,
    drip,
    endless_chunks,
    head,
    raw,
    silence,
)

SECONDS = 5.0
SITE = "site.test"


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


@dataclass
class World:
    """The proxy of one rendering, its allowed addresses and its resolver."""

    threads: ThreadPoolExecutor
    allowed: frozenset[str]
    resolver: Resolver

    def run[T](self, work: Callable[[EgressProxy, int], Awaitable[T]]) -> T:
        """Call `work` with the proxy and its port, and return its result."""

        async def held() -> T:
            watch = Watch(SITE)
            proxy = EgressProxy(AddressPolicy(self.allowed), self.resolver, watch, self.threads)

            async def working() -> T:
                async with asyncio.timeout(SECONDS), proxy.listening() as port:
                    return await work(proxy, port)

            return await watch.hold(working())

        return asyncio.run(held())

    def ask(self, request: str, *, then: bytes = b"") -> bytes:
        """Send a request through the proxy and return the whole response."""
        return self.run(lambda _, port: _asked(port, request, then))


async def _asked(port: int, request: str, then: bytes = b"") -> bytes:
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        writer.write(request.replace("\n", "\r\n").encode() + then)
        return await reader.read()
    except ConnectionResetError:  # the proxy closed before it had read everything
        return b""
    finally:
        writer.transport.abort()


def _get(url: str, *fields: str) -> str:
    host = url.removeprefix("http://").partition("/")[0]
    lines = (f"GET {url} HTTP/1.1", f"Host: {host}", *fields, "", "")
    return "\n".join(lines)


@pytest.fixture
def world(server: ScriptedServer, threads: ThreadPoolExecutor) -> World:
    pairs = frozenset({f"{SITE}:{server.port}", server.pair})
    return World(threads, pairs, ScriptedResolver([HOST]))


# covers F-01
def test_a_request_goes_in_origin_form_without_the_proxys_fields(
    server: ScriptedServer, world: World
) -> None:
    server.behaviours["/a"] = answer(b"silk", "Keep-Alive: timeout=9", "X-Own: 1")
    target = _get(f"http://{SITE}:{server.port}/a?b=1", "Proxy-Connection: keep-alive", "X-Mine: 2")
    received = world.ask(target)
    start, _, body = received.partition(b"\r\n\r\n")
    assert (start.split(b"\r\n")[0], body) == (b"HTTP/1.1 200 Scripted", b"silk")
    assert b"x-own: 1" in start.lower()
    assert b"keep-alive" not in start.lower()
    [request] = server.requests
    assert (request.target, request.headers["host"]) == ("/a?b=1", f"{SITE}:{server.port}")
    assert request.headers["x-mine"] == "2"
    assert "proxy-connection" not in request.headers


def test_a_body_is_relayed_and_a_second_request_is_not(
    server: ScriptedServer, world: World
) -> None:
    """Each request needs its own connection, because the address is checked per request."""
    server.fallback = answer(b"ok")
    post = f"POST http://{SITE}:{server.port}/ HTTP/1.1\nHost: {SITE}\nContent-Length: 4\n\n"
    second = _get("http://elsewhere.test/").replace("\n", "\r\n").encode()
    world.ask(post, then=b"silk" + second)
    assert [(each.method, each.body) for each in server.requests] == [("POST", b"silk")]


def test_a_tunnel_carries_bytes_both_ways(server: ScriptedServer, world: World) -> None:
    server.behaviours["/in"] = answer(b"tunnelled")
    inner = f"GET /in HTTP/1.1\r\nHost: {SITE}\r\n\r\n".encode()
    received = world.ask(f"CONNECT {SITE}:{server.port} HTTP/1.1\nHost: {SITE}\n\n", then=inner)
    assert received.startswith(b"HTTP/1.1 200 ")
    assert received.endswith(b"tunnelled")


# covers F-01
@pytest.mark.parametrize(
    ("target", "answers"),
    [
        ("127.0.0.1:{other}", []),
        ("localhost:{other}", [HOST]),
        ("[::ffff:127.0.0.1]:{other}", []),
        ("169.254.169.254:80", []),
        ("metadata.google.internal:80", [PUBLIC]),
        ("rebind.test:80", [HOST]),
        ("mixed.test:80", [PUBLIC, HOST]),
        ("public.test:25", [PUBLIC]),
    ],
)
@pytest.mark.parametrize("method", ["GET", "CONNECT"])
def test_what_the_policy_refuses_is_never_connected_to(
    server: ScriptedServer,
    threads: ThreadPoolExecutor,
    connects: list[tuple[str, int]],
    target: str,
    answers: list[str],
    method: str,
) -> None:
    authority = target.format(other=server.port)
    world = World(threads, frozenset(), ScriptedResolver(answers))
    request = f"CONNECT {authority} HTTP/1.1\nHost: {authority}\n\n"

    async def work(proxy: EgressProxy, port: int) -> tuple[bytes, object]:
        received = await _asked(
            port, request if method == "CONNECT" else _get(f"http://{authority}/")
        )
        return received, proxy.failure(parse_url(f"http://{authority}/"))

    received, failure = world.run(work)
    assert received.startswith(b"HTTP/1.1 502 ")
    assert isinstance(failure, UrlBlocked)
    assert names_no_address(failure, server.port)
    assert server.connections == 0
    assert len(connects) == 1, "only to the proxy itself"


# covers F-01
def test_a_name_keeps_the_address_that_was_checked(server: ScriptedServer, world: World) -> None:
    """A rebinding name server would answer a second look-up with another address."""
    server.fallback = answer(b"ok")
    world.resolver = resolver = ScriptedResolver([HOST], ["10.0.0.1"])

    async def work(_: EgressProxy, port: int) -> list[bytes]:
        return [await _asked(port, _get(f"http://{SITE}:{server.port}/")) for _ in range(2)]

    assert all(each.endswith(b"ok") for each in world.run(work))
    assert len(resolver.questions) == 1


@pytest.mark.parametrize(
    "request_text",
    [
        "GET / HTTP/1.1\nHost: site.test\n\n",
        "GET ftp://site.test/ HTTP/1.1\nHost: site.test\n\n",
        "GET http://user:word@site.test/ HTTP/1.1\nHost: site.test\n\n",
        "nonsense\n\n",
        "GET http://site.test/ HTTP/1.1\nHost: site.test\nX: "
        + "a" * 2 * relay.HEAD_MAX_BYTES
        + "\n\n",
    ],
    ids=["origin form", "scheme", "credentials", "no HTTP", "long head"],
)
def test_other_requests_are_refused(
    threads: ThreadPoolExecutor, connects: list[tuple[str, int]], request_text: str
) -> None:
    world = World(threads, frozenset(), ScriptedResolver([PUBLIC]))
    assert world.ask(request_text)[:12] in {b"HTTP/1.1 502", b""}
    assert len(connects) == 1


def test_a_server_that_says_nothing_is_given_up(
    server: ScriptedServer, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "SILENCE_SECONDS", 0.1)
    server.fallback = silence
    assert world.ask(_get(f"http://{SITE}:{server.port}/")) == b""


@pytest.mark.parametrize(
    "start",
    [b"no HTTP at all\r\n\r\n", head(200, "Transfer-Encoding: chunked") + b"zz\r\n"],
    ids=["head", "chunk"],
)
def test_an_answer_that_is_no_http_ends_the_exchange(
    server: ScriptedServer, world: World, start: bytes
) -> None:
    server.fallback = raw(start)
    assert b"zz" not in world.ask(_get(f"http://{SITE}:{server.port}/"))


@pytest.mark.parametrize("kind", ["request", "tunnel"])
def test_a_page_that_takes_too_many_bytes_ends(
    server: ScriptedServer, world: World, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(limits, "RENDER_MAX_BYTES", 500_000)
    server.fallback = endless_chunks(100_000)
    inner = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    tunnel = f"CONNECT {SITE}:{server.port} HTTP/1.1\nHost: a\n\n"
    request = _get(f"http://{SITE}:{server.port}/") if kind == "request" else tunnel
    with pytest.raises(PageTooLarge, match=SITE):
        world.ask(request, then=inner)


def test_a_page_that_opens_too_many_connections_ends(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "CONNECTIONS_MAX", 3)

    async def work(_: EgressProxy, port: int) -> None:
        for _ in range(4):
            await _asked(port, _get("http://10.0.0.1/"))

    with pytest.raises(PageTooLarge, match="connections"):
        world.run(work)


def test_a_failure_keeps_the_reason_of_the_look_up(threads: ThreadPoolExecutor) -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise FetchFailed("secret.test could not be resolved", details={"reason": "unknown_host"})

    async def work(proxy: EgressProxy, port: int) -> object:
        await _asked(port, _get("http://secret.test/"))
        return proxy.failure(parse_url("http://secret.test/"))

    failure = World(threads, frozenset(), unknown).run(work)
    assert isinstance(failure, FetchFailed)
    assert failure.details == {"reason": "unknown_host"}
    assert "secret" not in failure.message


def test_a_slow_answer_passes_while_it_comes(
    server: ScriptedServer, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "SILENCE_SECONDS", 0.5)
    server.fallback = drip(head(200, "Content-Length: 4"), [b"s", b"i", b"l", b"k"], 0.02)
    assert world.ask(_get(f"http://{SITE}:{server.port}/")).endswith(b"silk")

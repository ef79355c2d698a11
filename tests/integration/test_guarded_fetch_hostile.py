"""Servers that send too much, send too slowly, or don't speak HTTP."""

import gzip
import itertools
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event

import brotli  # type: ignore[import-untyped]  # ships no type information
import pytest
from backports import zstd

from spinneret.kernel.errors import (
    BodyTooLarge,
    CallerDeadlineExceeded,
    ContentRefused,
    DomainError,
    FetchFailed,
    FetchTimeout,
)
from spinneret.web.fetching.addresses import AddressPolicy
from tests.fakes.guarded_fetch import (
    MEGABYTE,
    PAGE,
    ScriptedResolver,
    fetch,
    fetcher,
    names_no_address,
    request,
)
from tests.fakes.scripted_server import (
    HOST,
    Behaviour,
    Exchange,
    ScriptedServer,
    answer,
    drip,
    endless_chunks,
    head,
    raw,
    redirect,
    silence,
)

HTML = "Content-Type: text/html"
# Longer than any deadline below, and shorter than any script of the server.
WELL_BEFORE_SECONDS = 6.0


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(brotli.compress, quality=4),  # the default quality is slow
    "zstd": zstd.compress,
}


def encoded(body: bytes, *encodings: str) -> Behaviour:
    for encoding in encodings:
        body = ENCODERS[encoding](body)
    return answer(body, f"Content-Encoding: {', '.join(encodings)}")


@pytest.mark.parametrize(
    "encodings", [*((name,) for name in ENCODERS), ("gzip", "br"), ("zstd", "gzip")]
)
def test_an_encoded_page_is_decoded(server: ScriptedServer, encodings: tuple[str, ...]) -> None:
    assert fetch(server, encoded(PAGE, *encodings)).body == PAGE


def test_a_body_of_exactly_the_limit_is_taken(server: ScriptedServer) -> None:
    assert len(fetch(server, answer(b"x" * 1000), max_bytes=1000).body) == 1000
    assert len(fetch(server, encoded(b"x" * 1000, "gzip"), max_bytes=1000).body) == 1000
    for behaviour in (answer(b"x" * 1001), encoded(b"x" * 1001, "gzip")):
        with pytest.raises(BodyTooLarge):
            fetch(server, behaviour, max_bytes=1000)


@pytest.mark.parametrize("length", [MEGABYTE + 1, 10**12, 10**19])
def test_a_declared_length_above_the_limit_is_refused_at_once(
    server: ScriptedServer, length: int
) -> None:
    start = head(200, HTML, f"Content-Length: {length}")
    with pytest.raises(BodyTooLarge):
        fetch(server, drip(start, itertools.repeat(b"x"), 0.05))


@pytest.mark.parametrize("size", [1000, 65536])
def test_an_endless_body_is_stopped_at_the_limit(server: ScriptedServer, size: int) -> None:
    with pytest.raises(BodyTooLarge):
        fetch(server, endless_chunks(size), total_seconds=30.0)


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (answer(PAGE, "Content-Encoding: gzip"), FetchFailed),
        (answer(gzip.compress(PAGE)[:-4], "Content-Encoding: gzip"), FetchFailed),
        (answer(PAGE, "Content-Encoding: compress"), ContentRefused),
        (answer(PAGE, "Content-Encoding: " + ", ".join(["gzip"] * 200)), ContentRefused),
        (answer(PAGE, *["Content-Encoding: gzip"] * 6), ContentRefused),
    ],
)
def test_an_encoding_that_cannot_be_undone_is_an_error(
    server: ScriptedServer, behaviour: Behaviour, error: type[DomainError]
) -> None:
    with pytest.raises(error):
        fetch(server, behaviour)


def test_an_empty_body_is_empty_in_every_encoding(server: ScriptedServer) -> None:
    assert fetch(server, answer(b"", "Content-Encoding: gzip")).body == b""


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"HTTP/1.1 200",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x00\x01\x02\r\n\r\n",
        b"HTTP/1.1 999999 X\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        head(200, HTML, "Content-Length: 10") + b"short",
        head(200, HTML, "Content-Length: 5", "Content-Length: 6") + b"short!",
        head(200, HTML, "Content-Length: -1") + b"x",
        head(200, HTML, "Transfer-Encoding: chunked") + b"5\r\nshor",
        head(200, HTML, "Transfer-Encoding: chunked") + b"zz\r\n",
        head(200, HTML, "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n",
        head(200, HTML, "no colon here"),
        head(200, "X-Long: " + "x" * 200_000),
        head(200, *(f"X-{number}: y" for number in range(30_000))),
        head(200, HTML, "Transfer-Encoding: chunked") + b"1;" + b"x" * 300_000,
    ],
    ids=lambda data: repr(data[:40]),
)
def test_an_answer_that_is_not_http_is_a_failure(server: ScriptedServer, data: bytes) -> None:
    with pytest.raises(FetchFailed) as failure:
        fetch(server, raw(data))
    assert str(server.port) not in failure.value.message


def test_bytes_behind_the_declared_length_are_not_part_of_the_page(
    server: ScriptedServer,
) -> None:
    start = head(200, HTML, "Content-Length: 5")
    assert fetch(server, raw(start + b"firstHTTP/1.1 200 second")).body == b"first"


def test_a_refused_connection_is_a_failure_that_names_the_host_only(
    connects: list[tuple[str, int]],
) -> None:
    with ScriptedServer() as gone:
        port = gone.port
    guarded = fetcher(
        policy=AddressPolicy(frozenset({f"site.test:{port}"})),
        resolver=ScriptedResolver([HOST]),
    )
    with pytest.raises(FetchFailed) as failure:
        guarded.fetch(request(f"http://site.test:{port}/"))
    assert connects == [(HOST, port)]
    assert "site.test" in failure.value.message
    assert names_no_address(failure.value, port)


HEADER_BYTES = [bytes([byte]) for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"y" * 500]


@pytest.mark.parametrize(
    "behaviour",
    [
        silence,
        drip(b"", HEADER_BYTES, 0.05),
        drip(b"HTTP/1.1 200 OK\r\n", itertools.repeat(b"X-More: y\r\n"), 0.05),
        drip(b"", itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n"), 0.05),
        drip(head(200, HTML), itertools.repeat(b"x"), 0.05),
        drip(head(200, HTML, "Content-Length: 900"), itertools.repeat(b"x"), 0.05),
        drip(head(200, HTML, "Transfer-Encoding: chunked"), itertools.repeat(b"1\r\nx\r\n"), 0.05),
        drip(head(200, HTML, "Content-Encoding: gzip"), itertools.repeat(gzip.compress(b"")), 0.05),
    ],
    ids=["silence", "status", "headers", "continue", "body", "length", "chunks", "empty-members"],
)
def test_a_slow_server_ends_at_the_deadline(server: ScriptedServer, behaviour: Behaviour) -> None:
    """Each wait is far below the read time-out, so only the total deadline can end the fetch."""
    began = time.monotonic()
    with pytest.raises(FetchTimeout):
        fetch(server, behaviour, total_seconds=1.0, read_seconds=30.0)
    assert time.monotonic() - began < WELL_BEFORE_SECONDS


def test_what_the_caller_has_left_as_the_fetch_begins_bounds_it(server: ScriptedServer) -> None:
    began = time.monotonic()
    with pytest.raises(CallerDeadlineExceeded, match=r"within 0\.3 s"):
        fetch(server, silence, total_seconds=60.0, read_seconds=60.0, left_seconds=lambda: 0.3)
    assert time.monotonic() - began < WELL_BEFORE_SECONDS


def test_a_silence_that_is_too_long_for_any_caller_is_the_host_s(server: ScriptedServer) -> None:
    with pytest.raises(FetchTimeout) as raised:
        fetch(server, silence, total_seconds=60.0, read_seconds=0.3, left_seconds=lambda: 30.0)
    assert type(raised.value) is FetchTimeout


def test_a_body_that_costs_only_time_ends_at_the_deadline(server: ScriptedServer) -> None:
    """A small body expands to a million empty frames, which take seconds to decode to nothing.

    The fetcher reads nothing meanwhile, so no time-out of the socket can end the fetch.
    """
    frames = zstd.compress(b"") * 1_000_000
    began = time.monotonic()
    with pytest.raises(FetchTimeout):
        fetch(
            server,
            answer(gzip.compress(frames), "Content-Encoding: zstd, gzip"),
            total_seconds=1.0,
            max_bytes=len(frames),
        )
    assert time.monotonic() - began < WELL_BEFORE_SECONDS


def test_slow_redirects_share_one_deadline(server: ScriptedServer) -> None:
    def slow(exchange: Exchange) -> None:
        exchange.pause(0.3)
        redirect(f"?{len(server.requests)}")(exchange)

    with pytest.raises(FetchTimeout):
        fetch(server, slow, total_seconds=1.0, max_redirects=1000)
    assert len(server.requests) < 10


def test_a_single_silence_ends_at_the_read_time_out(server: ScriptedServer) -> None:
    began = time.monotonic()
    with pytest.raises(FetchTimeout):
        fetch(server, silence, total_seconds=60.0, read_seconds=0.3)
    assert time.monotonic() - began < WELL_BEFORE_SECONDS


def test_a_slow_tls_handshake_ends_at_the_deadline() -> None:
    def trickle(sock: object, stopping: Event) -> None:
        sock.sendall(b"\x16\x03\x03\x40\x00")  # type: ignore[attr-defined]  # a socket
        while not stopping.wait(0.05):
            sock.sendall(b"\x02")  # type: ignore[attr-defined]  # a socket

    with ScriptedServer(on_connect=trickle) as server:
        began = time.monotonic()
        with pytest.raises(FetchTimeout):
            fetcher(server).fetch(request(f"https://{server.pair}/", total_seconds=1.0))
        assert time.monotonic() - began < WELL_BEFORE_SECONDS


def test_a_failed_fetch_leaves_no_socket_open() -> None:
    fds = Path("/proc/self/fd")
    before = len(list(fds.iterdir()))
    with ScriptedServer() as server:
        for behaviour in (
            raw(b"nonsense"),
            answer(b"x" * 2000),
            silence,
            redirect("http://10.0.0.1/"),
            answer(b"", "Content-Encoding: x"),
        ):
            with pytest.raises(DomainError):
                fetch(server, behaviour, max_bytes=1000, total_seconds=0.2)
    assert len(list(fds.iterdir())) == before

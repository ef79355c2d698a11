"""Requests with a body and custom headers, and excerpts of responses."""

import gzip
import itertools
import time
from collections.abc import Iterator

import pytest

from spinneret.kernel.errors import BodyTooLarge, ContentRefused, FetchFailed, FetchTimeout
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.politeness.robots_gate import Closed, RobotsGate, Rules
from spinneret.web.politeness.robots_lease import BeingRead, RobotsLeases
from tests.fakes.guarded_fetch import PAGE, fetch, fetcher, request
from tests.fakes.politeness import FakeHostStateStore, FakeRobotsStore
from tests.fakes.scripted_server import (
    Behaviour,
    ScriptedServer,
    answer,
    drip,
    endless_chunks,
    head,
    raw,
    redirect,
)
from tests.fakes.time import HandClock

BODY = b'{"a":"\xc3\xa4"}'


def test_a_body_is_sent_as_it_is(server: ScriptedServer) -> None:
    server.behaviours["/hook"] = answer(PAGE)
    given = {"Content-Type": "application/json", "X-Tag": "one"}
    fetcher(server).fetch(request(server.url("/hook"), method="POST", body=BODY, headers=given))
    [seen] = server.requests
    assert (seen.method, seen.body) == ("POST", BODY)
    assert seen.headers["content-length"] == str(len(BODY))
    assert (seen.headers["content-type"], seen.headers["x-tag"]) == ("application/json", "one")
    assert "transfer-encoding" not in seen.headers


def test_headers_never_replace_those_of_the_fetcher(server: ScriptedServer) -> None:
    server.behaviours["/"] = answer(PAGE)
    given = {"host": "other.example", "USER-AGENT": "x", "accept-encoding": "z"}
    plain = fetcher(server)
    for headers in ({}, given):
        plain.fetch(request(server.url("/"), headers=headers))
    first, second = server.requests
    assert first.headers == second.headers


def test_what_a_caller_accepts_is_its_own_to_say(server: ScriptedServer) -> None:
    server.behaviours["/"] = answer(PAGE)
    fetcher(server).fetch(request(server.url("/"), headers={"ACCEPT": "application/json"}))
    assert server.requests[0].headers["accept"] == "application/json"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("bounds", [{"method": "POST", "body": BODY}, {"follow_redirects": False}])
def test_a_redirect_may_be_an_answer(
    server: ScriptedServer, status: int, bounds: dict[str, object]
) -> None:
    page = fetch(server, redirect("/end", status=status), **bounds)
    assert (page.status_code, page.redirects, len(server.requests)) == (status, (), 1)


# ---------------------------------------------------------------- Excerpts


@pytest.mark.parametrize("status", [200, 302, 404, 500])
def test_an_excerpt_is_read_of_any_answer(server: ScriptedServer, status: int) -> None:
    page = fetch(
        server,
        answer(b"0123456789", status=status, content_type="image/png"),
        excerpt_bytes=4,
        media_types=frozenset({"text/html"}),
        follow_redirects=False,
    )
    assert (page.status_code, page.body) == (status, b"0123")


def test_an_excerpt_is_decoded(server: ScriptedServer) -> None:
    zipped = gzip.compress(b"silk" * 10_000)
    page = fetch(server, answer(zipped, "Content-Encoding: gzip"), excerpt_bytes=10)
    assert page.body == b"silksilksi"


def test_an_excerpt_of_a_short_body_is_all_of_it(server: ScriptedServer) -> None:
    assert fetch(server, answer(b"done"), excerpt_bytes=100).body == b"done"
    assert fetch(server, answer(b""), excerpt_bytes=100).body == b""


@pytest.mark.parametrize(
    ("behaviour", "excerpt"),
    [
        (raw(head(200, "Content-Encoding: x") + b"odd"), b""),
        (raw(head(200, "Content-Encoding: gzip") + b"not gzip"), b""),
        (raw(head(200, "Content-Length: 1000000000000") + b"some"), b"some"),
        (raw(head(200, "Transfer-Encoding: chunked") + b"4\r\nsome\r\nnonsense"), b"some"),
    ],
    ids=["unknown encoding", "broken encoding", "broken off", "broken framing"],
)
def test_a_broken_body_only_ends_its_excerpt(
    server: ScriptedServer, behaviour: Behaviour, excerpt: bytes
) -> None:
    page = fetch(server, behaviour, excerpt_bytes=100)
    assert (page.status_code, page.body) == (200, excerpt)


def test_an_endless_body_is_left_at_the_excerpts_end(server: ScriptedServer) -> None:
    started = time.monotonic()
    assert fetch(server, endless_chunks(1000), excerpt_bytes=2500).body == b"x" * 2500
    assert time.monotonic() - started < 2


def test_a_body_that_does_not_come_in_time_only_ends_its_excerpt(server: ScriptedServer) -> None:
    body = drip(head(200), itertools.repeat(b"x"), 0.1)
    page = fetch(server, body, excerpt_bytes=100, total_seconds=0.5)
    assert (page.status_code, 1 <= len(page.body) < 10) == (200, True)


@pytest.mark.parametrize(
    "behaviour",
    [
        raw(head(200, "Content-Encoding: x") + b"odd"),
        raw(head(200, "Content-Encoding: gzip") + b"not gzip"),
        raw(head(200, "Content-Length: 1000000000000") + b"some"),
        drip(head(200), itertools.repeat(b"x"), 0.1),
    ],
    ids=["unknown encoding", "broken encoding", "broken off", "too slow"],
)
def test_a_broken_body_is_an_error_where_its_excerpt_is_vital(
    server: ScriptedServer, behaviour: Behaviour
) -> None:
    with pytest.raises((ContentRefused, FetchFailed, FetchTimeout)):
        fetch(server, behaviour, excerpt_bytes=100, excerpt_is_vital=True, total_seconds=0.5)


def test_a_vital_excerpt_is_cut_where_it_ends(server: ScriptedServer) -> None:
    page = fetch(server, endless_chunks(1000), excerpt_bytes=2500, excerpt_is_vital=True)
    assert page.body == b"x" * 2500


# ---------------------------------------------------------------- robots.txt


def robots_rules(server: ScriptedServer, behaviour: Behaviour) -> Rules | Closed | BeingRead:
    """Return the rules for a page of a host whose robots.txt has this behaviour."""
    server.behaviours["/robots.txt"] = behaviour
    clock = HandClock()
    gate = RobotsGate(store=FakeRobotsStore(), product_token="Spinneret", clock=clock)
    ledger = FakeHostStateStore()
    leases = RobotsLeases(ledger=ledger, clock=clock, new_token=lambda: "reader")
    return gate.rules_for(parse_url(server.url("/page")), fetcher(server).fetch, leases, 0.0)


@pytest.mark.parametrize(
    ("status", "found"), [(503, Closed), (429, Closed), (404, Rules), (200, Rules)]
)
def test_a_failing_host_is_closed_even_if_the_body_of_its_robots_txt_is_unreadable(
    server: ScriptedServer, status: int, found: type[Closed | Rules]
) -> None:
    unreadable = raw(head(status, "Content-Encoding: x") + b"odd")
    assert isinstance(robots_rules(server, unreadable), found)


def test_a_robots_txt_without_an_end_is_left_after_what_is_read_of_it(
    server: ScriptedServer,
) -> None:
    assert isinstance(robots_rules(server, endless_chunks(1000)), Rules)


# ---------------------------------------------------------------- Bodies that are read as they come


class Taking:
    """Consumer that collects the pieces of a body until it has `most` bytes."""

    def __init__(self, most: int = 10_000_000) -> None:
        self.pieces: list[bytes] = []
        self.urls: list[str] = []
        self._most = most

    def __call__(self, url: Url, pieces: Iterator[bytes]) -> None:
        self.urls.append(url.target)
        for piece in pieces:
            self.pieces.append(piece)
            if sum(map(len, self.pieces)) >= self._most:
                return


def test_a_body_is_read_decoded_while_it_comes_and_is_not_kept(server: ScriptedServer) -> None:
    server.behaviours["/end"] = answer(
        gzip.compress(b"silk" * 100_000), "Content-Encoding: gzip", content_type="text/xml"
    )
    taking = Taking()
    page = fetch(server, redirect("/end"), read_body=taking)
    assert (page.status_code, page.media_type, page.body) == (200, "text/xml", b"")
    assert b"".join(taking.pieces) == b"silk" * 100_000
    assert max(map(len, taking.pieces)) <= 65_536
    assert taking.urls == ["/end"]


def test_what_is_left_unread_is_not_waited_for(server: ScriptedServer) -> None:
    started = time.monotonic()
    taking = Taking(2500)
    assert fetch(server, endless_chunks(1000), read_body=taking).status_code == 200
    assert 2500 <= sum(map(len, taking.pieces)) < 1_000_000
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("status", [204, 304, 404, 500])
def test_the_body_of_an_answer_without_success_is_read_by_nobody(
    server: ScriptedServer, status: int
) -> None:
    taking = Taking()
    body = b"" if status in (204, 304) else b"an error"
    assert fetch(server, answer(body, status=status), read_body=taking).status_code == status
    assert taking.urls == []


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (raw(head(200, "Content-Length: 1000000000000") + b"some"), FetchFailed),
        (raw(head(200, "Transfer-Encoding: chunked") + b"4\r\nsome\r\nnonsense"), FetchFailed),
        (drip(head(200), itertools.repeat(b"x"), 0.1), FetchTimeout),
        (answer(b"x" * 5000), BodyTooLarge),
    ],
    ids=["broken off", "broken framing", "too slow", "too large"],
)
def test_what_ends_a_body_early_is_an_error_after_the_pieces_before_it(
    server: ScriptedServer, behaviour: Behaviour, error: type[Exception]
) -> None:
    taking = Taking()
    with pytest.raises(error):
        fetch(server, behaviour, read_body=taking, total_seconds=0.5, max_bytes=4000)
    assert taking.urls == ["/page"]

"""Facts of a fetch besides the page: conditions, HEAD, phases, certificate, unusual responses."""

import ssl
from datetime import UTC, datetime, timedelta

import pytest
import trustme

from spinneret.kernel.errors import ContentRefused, FetchFailed, FetchTimeout, UrlBlocked
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import Certificate, Validators
from spinneret.web.fetching.rules import require_success
from spinneret.web.fetching.urls import parse_url
from tests.fakes.guarded_fetch import (
    PAGE,
    PUBLIC,
    RoutedTcp,
    ScriptedResolver,
    fetch,
    fetcher,
    request,
)
from tests.fakes.scripted_server import (
    Exchange,
    ScriptedServer,
    answer,
    drip,
    head,
    raw,
    redirect,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HTML = frozenset({"text/html"})

# ---------------------------------------------------------------- Conditional requests


def unchanged(exchange: Exchange) -> None:
    """Send the page with its validators, or 304 if the request has its ETag."""
    fields = ('ETag: W/"sp\xef"', "Last-Modified: Sun, 01 Mar 2026 11:00:00 GMT")
    if exchange.request.headers.get("if-none-match") == 'W/"sp\xef"':
        exchange.send(head(304, *fields))
        return
    answer(PAGE, *fields)(exchange)


def test_a_page_that_is_as_it_was_answers_304_as_a_value(server: ScriptedServer) -> None:
    first = fetch(server, unchanged)
    assert (first.status_code, first.not_modified) == (200, False)
    again = fetch(server, unchanged, validators=first.validators)
    assert (again.status_code, again.not_modified, again.body) == (304, True, b"")
    sent = server.requests[-1].headers
    assert sent["if-none-match"] == 'W/"sp\xef"'
    assert sent["if-modified-since"] == "Sun, 01 Mar 2026 11:00:00 GMT"
    assert again.validators == first.validators


def test_validators_go_to_the_url_that_gave_them_and_to_no_other(server: ScriptedServer) -> None:
    server.behaviours["/old"] = redirect("/page")
    server.behaviours["/page"] = unchanged
    first = fetcher(server).fetch(request(server.url("/old")))
    again = fetcher(server).fetch(request(server.url("/old"), validators=first.validators))
    assert again.status_code == 304
    by_target = [(sent.target, "if-none-match" in sent.headers) for sent in server.requests]
    assert by_target == [("/old", False), ("/page", False), ("/old", False), ("/page", True)]


def test_a_page_without_validators_gives_none(server: ScriptedServer) -> None:
    assert fetch(server, answer(PAGE)).validators is None
    assert fetch(server, answer(PAGE, "ETag: ")).validators is None


@pytest.mark.parametrize("value", ["", "a\r\nX: y", "a\0", "\u2713"])
def test_what_no_header_can_hold_is_no_validator(value: str) -> None:
    with pytest.raises(ValueError, match="validator"):
        Validators(url=parse_url("http://site.example/"), etag=value)


# ---------------------------------------------------------------- HEAD


def test_head_follows_redirects_and_brings_no_body(server: ScriptedServer) -> None:
    server.behaviours["/old"] = redirect("/page")
    server.behaviours["/page"] = raw(
        head(200, "Content-Type: text/html", f"Content-Length: {10**12}")
    )
    page = fetcher(server).fetch(request(server.url("/old"), method="HEAD", media_types=HTML))
    assert (page.status_code, page.body, page.media_type) == (200, b"", "text/html")
    assert page.redirects == (server.url("/old"),)
    assert [sent.method for sent in server.requests] == ["HEAD", "HEAD"]


def test_another_method_follows_no_redirect(server: ScriptedServer) -> None:
    assert fetch(server, redirect("/else"), method="POST").status_code == 302


# ---------------------------------------------------------------- Phases and certificate


class Clock:
    """A clock that only a test advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_phases_are_those_of_the_last_hop(server: ScriptedServer) -> None:
    clock = Clock()

    def resolve(_host: str, _port: int) -> list[str]:
        clock.now += 0.005
        return [PUBLIC]

    class SlowTcp(RoutedTcp):
        def connect_tcp(self, *args: object, **kwargs: object) -> object:  # type: ignore[override]  # as given
            clock.now += 0.02
            return super().connect_tcp(*args, **kwargs)  # type: ignore[arg-type]  # as given

    def slow(exchange: Exchange) -> None:
        clock.now += 0.3
        answer(PAGE)(exchange)

    server.behaviours |= {"/old": redirect("/page"), "/page": slow}
    guarded = fetcher(
        resolver=resolve, tcp=SlowTcp(server, PUBLIC), monotonic=clock, policy=AddressPolicy()
    )
    page = guarded.fetch(request("http://site.example/old"))
    phases = page.phases
    assert phases is not None
    assert (phases.dns_ms, phases.connect_ms, phases.tls_ms) == (5, 20, None)
    assert (phases.first_byte_ms, phases.transfer_ms) == (300, 0)
    assert page.duration_ms == 2 * 25 + 300


@pytest.mark.parametrize(("waits", "in_time"), [(3.0, True), (3.9, False)])
def test_waiting_for_a_redirects_host_isnt_the_sites_time(
    server: ScriptedServer, waits: float, in_time: bool
) -> None:
    """Waits may take up to three seconds more than the time limit of the request."""
    clock = Clock()

    def slow(exchange: Exchange) -> None:
        clock.now += 0.2
        answer(PAGE)(exchange)

    def wait(_: object) -> None:
        clock.now += waits

    server.behaviours |= {"/old": redirect("/page"), "/page": slow}
    guarded = fetcher(server, monotonic=clock)
    asked = request(server.url("/old"), total_seconds=1.0, before_redirect=wait)
    if in_time:
        assert guarded.fetch(asked).duration_ms == 200
    else:
        with pytest.raises(FetchTimeout):
            guarded.fetch(asked)


def test_a_slow_body_is_transfer(server: ScriptedServer) -> None:
    start = head(200, "Content-Type: text/html", "Content-Length: 3")
    phases = fetch(server, drip(start, [b"a", b"b", b"c"], 0.05)).phases
    assert phases is not None
    assert phases.transfer_ms >= 100 > phases.first_byte_ms


def test_a_page_by_tls_shows_the_handshake_and_the_certificate() -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ends = datetime.now(UTC).replace(microsecond=0) + timedelta(days=20)
    certificate = authority.issue_cert("site.test", "*.site.test", not_after=ends)
    certificate.configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with ScriptedServer({"/": answer(PAGE)}, tls=context) as server:
        guarded = fetcher(
            resolver=ScriptedResolver([PUBLIC]), tcp=RoutedTcp(server, PUBLIC), tls=trusting
        )
        page = guarded.fetch(request("https://site.test/"))
    assert page.phases is not None
    assert page.phases.tls_ms is not None
    shown = page.certificate
    assert shown is not None
    assert (shown.not_after, shown.names) == (ends, ("site.test", "*.site.test"))
    assert shown.not_before < ends
    assert "O=trustme" in shown.issuer
    assert "O=trustme" in shown.subject


def test_the_certificate_of_every_hop_is_shown() -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("one.test", "two.test").configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    behaviours = {"/": redirect("https://two.test/page"), "/page": answer(PAGE)}
    seen: list[Certificate] = []
    with ScriptedServer(behaviours, tls=context) as server:
        guarded = fetcher(
            resolver=ScriptedResolver([PUBLIC]), tcp=RoutedTcp(server, PUBLIC), tls=trusting
        )
        page = guarded.fetch(request("https://one.test/", saw_certificate=seen.append))
    assert seen == [page.certificate] * 2


def test_a_page_without_tls_has_no_certificate(server: ScriptedServer) -> None:
    assert fetch(server, answer(PAGE)).certificate is None


def test_an_expired_certificate_is_known_by_its_code() -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    past = datetime.now(UTC) - timedelta(days=1)
    authority.issue_cert("site.test", not_after=past).configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with ScriptedServer({"/": answer(PAGE)}, tls=context) as server:
        guarded = fetcher(
            resolver=ScriptedResolver([PUBLIC]), tcp=RoutedTcp(server, PUBLIC), tls=trusting
        )
        with pytest.raises(FetchFailed) as failure:
            guarded.fetch(request("https://site.test/"))
    assert failure.value.details == {"reason": "tls", "verify_code": 10}


# ---------------------------------------------------------------- Answers without a page


@pytest.mark.parametrize(
    ("status", "fields", "body", "message"),
    [
        (204, (), b"", "127.0.0.1 answered 204 No Content"),
        (205, (), b"", "127.0.0.1 answered 205 Reset Content"),
        (200, (), b"", "127.0.0.1 answered 200 with an empty body"),
        (200, ("Content-Type: text/html",), b"", "127.0.0.1 answered 200 with an empty body"),
        (200, ("Content-Type:",), b"", "127.0.0.1 answered 200 with an empty body"),
    ],
)
def test_an_answer_without_content_is_called_what_it_is(
    server: ScriptedServer, status: int, fields: tuple[str, ...], body: bytes, message: str
) -> None:
    sent = raw(head(status, f"Content-Length: {len(body)}", *fields) + body)
    page = fetch(server, sent, media_types=HTML)
    with pytest.raises(ContentRefused) as refusal:
        require_success(page, NOW)
    assert refusal.value.message == message


@pytest.mark.parametrize(
    ("field", "named"),
    [
        ((), "no Content-Type"),
        (("Content-Type:",), "no Content-Type"),
        (("Content-Type: nonsense",), "an unreadable Content-Type"),
    ],
)
def test_a_body_without_a_type_is_refused_as_such(
    server: ScriptedServer, field: tuple[str, ...], named: str
) -> None:
    body = b"%PDF-1.7"
    with pytest.raises(ContentRefused) as refusal:
        fetch(server, raw(head(200, "Content-Length: 8", *field) + body), media_types=HTML)
    assert f"sent {named}, and its body looks like application/octet-stream" in (
        refusal.value.message
    )
    assert refusal.value.details == {"media_type": "application/octet-stream", "sniffed": True}


# ---------------------------------------------------------------- Ports


@pytest.mark.parametrize("port", [22, 25, 6667, 10080])
def test_a_redirect_to_a_bad_port_is_not_followed(
    server: ScriptedServer, connects: list[tuple[str, int]], port: int
) -> None:
    with pytest.raises(UrlBlocked):
        fetch(server, redirect(f"http://site.example:{port}/"))
    assert {to for _, to in connects} == {server.port}


def test_a_bad_port_is_not_fetched_directly(connects: list[tuple[str, int]]) -> None:
    with pytest.raises(UrlBlocked):
        fetcher().fetch(request("http://site.example:25/", method="POST", body=b"{}"))
    assert connects == []

"""Addresses to which the guarded fetcher connects: names, IP addresses, proxies, TLS.

Public addresses are routed to a local server; an audit hook records every connection attempt.
"""

import itertools
import ssl
import time
from collections.abc import Iterator
from threading import Event

import pytest
import trustme

from spinneret.kernel.errors import (
    FetchFailed,
    FetchTimeout,
    UrlBlocked,
    UrlInvalid,
)
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.resolver import resolve_by_system
from tests.fakes.guarded_fetch import (
    PAGE,
    PUBLIC,
    RoutedTcp,
    ScriptedResolver,
    fetcher,
    names_no_address,
    request,
)
from tests.fakes.scripted_server import (
    HOST,
    ScriptedServer,
    answer,
    drip,
    in_turn,
    redirect,
)
from tests.unit.web.fetching.cases import Case, each_case

# Longer than any deadline below, and shorter than any script of the server.
WELL_BEFORE_SECONDS = 6.0


# covers F-01
def test_a_name_is_resolved_once_and_its_checked_address_connected_to(
    server: ScriptedServer,
) -> None:
    """A rebinding name server would answer a second look-up with an internal address."""
    server.behaviours["/"] = answer(PAGE)
    resolver = ScriptedResolver([PUBLIC], [HOST])
    tcp = RoutedTcp(server, PUBLIC)
    page = fetcher(resolver=resolver, tcp=tcp).fetch(request("http://site.test:8080/"))
    assert page.body == PAGE
    assert resolver.questions == [("site.test", 8080)]
    assert tcp.asked == [PUBLIC]
    assert server.requests[0].headers["host"] == "site.test:8080"


@each_case("dns", "answers")
def test_only_checked_addresses_of_a_name_are_asked(
    server: ScriptedServer, connects: list[tuple[str, int]], case: Case
) -> None:
    """This holds for any answer of the name servers, to the first look-up or to a later one."""
    hops = len(case["input"]) - 1
    server.fallback = in_turn(*(redirect(f"/{hop}") for hop in range(hops)), answer(PAGE))
    working = set(case["asked"]) - set(case.get("dead", ()))
    tcp = RoutedTcp(server, *working)
    guarded = fetcher(server, resolver=ScriptedResolver(*case["input"]), tcp=tcp)
    expected = {"refused": UrlBlocked, "failed": FetchFailed}.get(case["expected"])
    if expected is None:
        assert guarded.fetch(request(f"http://site.test:{server.port}/")).body == PAGE
    else:
        with pytest.raises(expected) as refusal:
            guarded.fetch(request(f"http://site.test:{server.port}/"))
        assert type(refusal.value) is expected
        assert names_no_address(refusal.value, server.port)
        assert not any(address in refusal.value.message for address in case["asked"])
    assert tcp.asked == case["asked"]
    assert connects == [(HOST, server.port)] * len(server.requests)


def test_a_failing_name_of_a_redirect_is_not_named(server: ScriptedServer) -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise FetchFailed(f"{host} could not be resolved")

    server.behaviours["/"] = redirect("http://secret-name.test/")
    with pytest.raises(FetchFailed) as failure:
        fetcher(server, resolver=resolve).fetch(request(server.url("/")))
    assert "secret-name" not in failure.value.message


def test_a_slow_name_server_ends_at_the_deadline() -> None:
    answered = Event()

    def resolve(host: str, port: int) -> list[str]:
        answered.wait(30)
        return [PUBLIC]

    began = time.monotonic()
    with pytest.raises(FetchTimeout):
        fetcher(resolver=resolve).fetch(request("http://site.test/", total_seconds=0.3))
    answered.set()
    assert time.monotonic() - began < WELL_BEFORE_SECONDS


def test_only_the_named_pair_of_a_host_may_be_reached(server: ScriptedServer) -> None:
    server.behaviours["/"] = answer(PAGE)
    url = f"http://site.test:{server.port}/"
    resolver = ScriptedResolver([HOST])
    named = AddressPolicy(frozenset({f"site.test:{server.port}"}))
    assert fetcher(policy=named, resolver=resolver).fetch(request(url)).body == PAGE
    for pair in (f"other.test:{server.port}", "site.test:80", server.pair):
        with pytest.raises(UrlBlocked) as blocked:
            fetcher(policy=AddressPolicy(frozenset({pair})), resolver=resolver).fetch(request(url))
        assert "make set FetchAllowed=HOST:PORT" in blocked.value.details["hint"]


def test_proxies_of_the_environment_are_ignored(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.behaviours["/"] = answer(PAGE)
    with ScriptedServer() as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://{proxy.pair}")
        assert fetcher(server, proxy).fetch(request(server.url("/"))).body == PAGE
        with pytest.raises(UrlBlocked):
            fetcher(proxy).fetch(request("http://169.254.169.254/"))
        assert proxy.connections == 0


@pytest.mark.parametrize("url", ["ftp://example.com/", "http://user@example.com/", "example.com"])
def test_an_invalid_url_is_not_fetched(url: str, connects: list[tuple[str, int]]) -> None:
    with pytest.raises(UrlInvalid):
        fetcher().fetch(request(url))
    assert connects == []


@pytest.mark.parametrize("user_agent", ["", "  ", "a\r\nX: y", "ü", "a\0"])
def test_a_user_agent_that_is_no_header_value_is_an_error(user_agent: str) -> None:
    with pytest.raises(ValueError, match="user agent"):
        fetcher(user_agent=user_agent)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure_server(authority: trustme.CA) -> Iterator[ScriptedServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("site.test").configure_cert(context)
    names: list[str | None] = []
    context.sni_callback = lambda _sock, name, _context: names.append(name)
    with ScriptedServer({"/": answer(PAGE)}, tls=context) as running:
        running.sni_names = names  # type: ignore[attr-defined]  # read by one test
        yield running


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.mark.parametrize("host", ["site.test", "site.test."])
def test_tls_is_verified_against_the_name_of_the_url(
    secure_server: ScriptedServer, authority: trustme.CA, host: str
) -> None:
    guarded = fetcher(
        resolver=ScriptedResolver([PUBLIC]),
        tcp=RoutedTcp(secure_server, PUBLIC),
        tls=trusting(authority),
    )
    assert guarded.fetch(request(f"https://{host}/")).body == PAGE
    assert secure_server.sni_names == ["site.test"]  # type: ignore[attr-defined]  # see the fixture
    assert secure_server.requests[0].headers["host"] == host


@pytest.mark.parametrize("host", ["other.test", PUBLIC, "site.test.evil.test"])
def test_a_certificate_of_another_name_is_refused(
    secure_server: ScriptedServer, authority: trustme.CA, host: str
) -> None:
    guarded = fetcher(
        resolver=ScriptedResolver([PUBLIC]),
        tcp=RoutedTcp(secure_server, PUBLIC),
        tls=trusting(authority),
    )
    with pytest.raises(FetchFailed) as failure:
        guarded.fetch(request(f"https://{host}/"))
    assert failure.value.details["reason"] == "tls"
    assert secure_server.requests == []


def test_an_unknown_authority_is_refused_by_the_default_roots(
    secure_server: ScriptedServer,
) -> None:
    guarded = fetcher(resolver=ScriptedResolver([PUBLIC]), tcp=RoutedTcp(secure_server, PUBLIC))
    with pytest.raises(FetchFailed):
        guarded.fetch(request("https://site.test/"))
    assert secure_server.requests == []


def test_a_slow_page_over_tls_ends_at_the_deadline(
    secure_server: ScriptedServer, authority: trustme.CA
) -> None:
    secure_server.behaviours["/slow"] = drip(
        b"HTTP/1.1 200 OK\r\nX: ", itertools.repeat(b"y"), 0.05
    )
    guarded = fetcher(
        resolver=ScriptedResolver([PUBLIC]),
        tcp=RoutedTcp(secure_server, PUBLIC),
        tls=trusting(authority),
    )
    began = time.monotonic()
    with pytest.raises(FetchTimeout):
        guarded.fetch(request("https://site.test/slow", total_seconds=1.0, read_seconds=30.0))
    assert time.monotonic() - began < WELL_BEFORE_SECONDS


def test_the_system_resolves_names() -> None:
    assert HOST in resolve_by_system("localhost", 80)
    assert resolve_by_system(HOST, 80) == [HOST]


@pytest.mark.parametrize("host", ["a" * 64 + ".test", "a..b", "x" * 300])
def test_a_name_that_no_server_can_know_is_a_failure(host: str) -> None:
    with pytest.raises(FetchFailed):
        resolve_by_system(host, 80)

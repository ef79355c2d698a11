"""Pages through a proxy, on real sockets: the requests to the proxy, and the proxy's limits."""

import base64
import itertools
import socket
import ssl
import time
from collections.abc import Iterator
from threading import Event

import pytest
import trustme

from spinneret.kernel.errors import (
    CallerDeadlineExceeded,
    FetchFailed,
    FetchTimeout,
    ProxyFailed,
    UrlBlocked,
)
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.models import FetchedPage, Proxy
from tests.fakes.connect_proxy import proxy_at, tunnel
from tests.fakes.guarded_fetch import (
    OTHER_PUBLIC,
    PAGE,
    PUBLIC,
    ScriptedResolver,
    fetcher,
    names_no_address,
    request,
)
from tests.fakes.scripted_server import (
    HOST,
    Behaviour,
    ScriptedServer,
    answer,
    drip,
    head,
    raw,
    redirect,
    silence,
)

HOSTNAME_MISMATCH = 62  # OpenSSL: X509_V_ERR_HOSTNAME_MISMATCH
URL = "http://site.example/page"
WELL_BEFORE_SECONDS = 6.0  # longer than any deadline below, shorter than any script
CREDENTIALS = {"username": "spider", "password": "wöven:silk"}


@pytest.fixture
def proxy() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def serving(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def through(
    proxy: ScriptedServer,
    *,
    resolver: ScriptedResolver | None = None,
    by: Proxy | None = None,
    **others: object,
) -> GuardedFetcher:
    """Return a fetcher that uses the proxy; names resolve to a public address by default."""
    direct = fetcher(proxy, resolver=resolver or ScriptedResolver([PUBLIC]), **others)
    return direct.through(by or proxy_at(proxy))


def fetch_through(proxy: ScriptedServer, url: str = URL, **bounds: object) -> FetchedPage:
    return through(proxy).fetch(request(url, **bounds))


def asked_for(proxy: ScriptedServer) -> list[str]:
    return [seen.target for seen in proxy.requests]


# ---------------------------------------------------------------- Tunnels


def test_a_page_comes_through_a_tunnel_to_its_checked_address(
    proxy: ScriptedServer, server: ScriptedServer
) -> None:
    proxy.behaviours[f"{PUBLIC}:80"] = tunnel(server)
    server.behaviours["/page"] = answer(PAGE)
    page = fetch_through(proxy)
    assert (page.body, page.url.text) == (PAGE, URL)
    [asked], [seen] = proxy.requests, server.requests
    assert (asked.target, asked.headers) == (f"{PUBLIC}:80", {"host": f"{PUBLIC}:80"})
    assert (seen.target, seen.headers["host"]) == ("/page", "site.example")


def test_tls_is_with_the_host_and_for_its_name(
    proxy: ScriptedServer, authority: trustme.CA
) -> None:
    with ScriptedServer(tls=serving(authority, "site.example")) as site:
        site.behaviours["/page"] = answer(PAGE)
        proxy.behaviours[f"{PUBLIC}:443"] = tunnel(site)
        guarded = through(proxy, tls=trusting(authority))
        assert guarded.fetch(request("https://site.example/page")).body == PAGE
        with pytest.raises(FetchFailed) as failure:
            guarded.fetch(request("https://other.example/page"))
    assert failure.value.details == {"reason": "tls", "verify_code": HOSTNAME_MISMATCH}
    assert not isinstance(failure.value, ProxyFailed)
    assert asked_for(proxy) == [f"{PUBLIC}:443"] * 2


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_way_to_the_proxy_can_be_encrypted_too(authority: trustme.CA, scheme: str) -> None:
    site_tls = serving(authority, "site.example") if scheme == "https" else None
    with (
        ScriptedServer(tls=serving(authority, HOST)) as proxy,
        ScriptedServer(tls=site_tls) as site,
    ):
        port = 443 if scheme == "https" else 80
        proxy.behaviours[f"{PUBLIC}:{port}"] = tunnel(site)
        site.behaviours["/page"] = answer(PAGE * 10_000)
        guarded = through(proxy, tls=trusting(authority), by=proxy_at(proxy, **CREDENTIALS))
        assert guarded.fetch(request(f"{scheme}://site.example/page")).body == PAGE * 10_000
        assert "proxy-authorization" in proxy.requests[0].headers
        assert "proxy-authorization" not in site.requests[0].headers


def test_a_proxy_has_to_prove_its_name(authority: trustme.CA) -> None:
    with ScriptedServer(tls=serving(authority, "another.example")) as proxy:
        with pytest.raises(ProxyFailed):
            through(proxy, tls=trusting(authority)).fetch(request(URL))
        assert proxy.requests == []


def test_credentials_go_to_the_proxy_and_to_nobody_else(
    proxy: ScriptedServer, server: ScriptedServer
) -> None:
    proxy.behaviours[f"{PUBLIC}:80"] = tunnel(server)
    server.behaviours["/page"] = redirect("/end")
    server.behaviours["/end"] = answer(PAGE)
    by = proxy_at(proxy, **CREDENTIALS)
    through(proxy, by=by).fetch(request(URL))
    wanted = "Basic " + base64.b64encode("spider:wöven:silk".encode()).decode()
    assert [seen.headers["proxy-authorization"] for seen in proxy.requests] == [wanted] * 2
    assert [seen.target for seen in server.requests] == ["/page", "/end"]
    assert not any("proxy-authorization" in seen.headers for seen in server.requests)
    assert "spider" not in repr(by)
    assert "silk" not in repr(by)


def test_an_ipv6_address_is_asked_for_in_brackets(
    proxy: ScriptedServer, server: ScriptedServer
) -> None:
    proxy.behaviours["[2606:4700::1111]:8080"] = tunnel(server)
    server.behaviours["/"] = answer(PAGE)
    guarded = through(proxy, resolver=ScriptedResolver(["2606:4700::1111"]))
    assert guarded.fetch(request("http://site.example:8080/")).body == PAGE


def test_the_fetcher_without_a_proxy_stays_without_one(
    proxy: ScriptedServer, server: ScriptedServer
) -> None:
    server.behaviours["/page"] = answer(PAGE)
    direct = fetcher(server, proxy)
    direct.through(proxy_at(proxy))
    assert direct.fetch(request(server.url("/page"))).body == PAGE
    assert proxy.connections == 0


# ---------------------------------------------------------------- The guard


@pytest.mark.parametrize("address", ["10.0.0.1", "169.254.169.254", "127.0.0.1", "::1"])
def test_a_proxy_never_hears_of_an_address_that_must_not_be_reached(
    proxy: ScriptedServer, address: str
) -> None:
    guarded = through(proxy, resolver=ScriptedResolver([address]))
    with pytest.raises(UrlBlocked):
        guarded.fetch(request(URL))
    assert proxy.connections == 0


def test_a_name_is_resolved_once_and_never_by_the_proxy(
    proxy: ScriptedServer, server: ScriptedServer
) -> None:
    proxy.behaviours[f"{PUBLIC}:80"] = tunnel(server)
    server.behaviours["/page"] = answer(PAGE)
    resolver = ScriptedResolver([PUBLIC], ["10.0.0.1"])
    through(proxy, resolver=resolver).fetch(request(URL))
    assert resolver.questions == [("site.example", 80)]
    assert asked_for(proxy) == [f"{PUBLIC}:80"]


def test_a_redirect_through_a_proxy_is_checked_again(
    proxy: ScriptedServer, server: ScriptedServer
) -> None:
    proxy.behaviours[f"{PUBLIC}:80"] = tunnel(server)
    server.behaviours["/page"] = redirect("http://inside.example/")
    resolver = ScriptedResolver([PUBLIC], ["10.0.0.1"])
    with pytest.raises(UrlBlocked):
        through(proxy, resolver=resolver).fetch(request(URL))
    assert asked_for(proxy) == [f"{PUBLIC}:80"]


def test_a_proxy_at_an_inner_address_is_not_reached(proxy: ScriptedServer) -> None:
    direct = fetcher(policy=AddressPolicy(), resolver=ScriptedResolver([PUBLIC]))
    with pytest.raises(ProxyFailed) as failure:
        direct.through(proxy_at(proxy)).fetch(request(URL))
    assert proxy.connections == 0
    assert names_no_address(failure.value, proxy.port)


def test_a_proxys_name_is_checked_as_a_hosts_is(proxy: ScriptedServer) -> None:
    resolver = ScriptedResolver([PUBLIC], [OTHER_PUBLIC, HOST])
    by = Proxy(scheme="http", host="proxy.example", port=proxy.port)
    with pytest.raises(ProxyFailed):
        through(proxy, resolver=resolver, by=by).fetch(request(URL))
    assert resolver.questions == [("site.example", 80), ("proxy.example", proxy.port)]
    assert proxy.connections == 0


# ---------------------------------------------------------------- Proxies that fail


def hang_up(_: object) -> None:
    """Close the connection without a response."""


FAILURES: dict[str, Behaviour] = {
    "credentials refused": answer(b"who?", "Proxy-Authenticate: Basic", status=407),
    "forbidden": answer(b"no", status=403),
    "overloaded": answer(b"later", status=503),
    "redirect": redirect("http://127.0.0.1/"),
    "switching": raw(head(101, "Upgrade: x", "Connection: upgrade")),
    "no HTTP": raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"),
    "half a head": raw(b"HTTP/1.1 200 OK\r\nX-Part"),
    "nothing": hang_up,
    "endless head": drip(head(200)[:-2], (b"X-More: more\r\n" for _ in itertools.count()), 0.01),
    "endless interim answers": drip(b"", (head(103) for _ in itertools.count()), 0.01),
    "silence": silence,
}


@pytest.mark.parametrize("behaviour", FAILURES.values(), ids=list(FAILURES))
def test_what_a_proxy_does_wrong_is_its_own_failure(
    proxy: ScriptedServer, behaviour: Behaviour
) -> None:
    proxy.behaviours[f"{PUBLIC}:80"] = behaviour
    by = proxy_at(proxy, **CREDENTIALS)
    with pytest.raises(ProxyFailed) as failure:
        through(proxy, by=by).fetch(request(URL, total_seconds=0.5, read_seconds=0.3))
    assert names_no_address(failure.value, proxy.port)
    for secret in ("spider", "silk", PUBLIC):
        assert secret not in f"{failure.value} {failure.value.details}"


def test_a_proxy_that_the_caller_s_deadline_cuts_short_has_not_failed(
    proxy: ScriptedServer,
) -> None:
    proxy.behaviours[f"{PUBLIC}:80"] = silence
    with pytest.raises(CallerDeadlineExceeded):
        fetch_through(proxy, read_seconds=30.0, left_seconds=lambda: 0.2)


def test_the_status_of_a_refusal_is_shown(proxy: ScriptedServer) -> None:
    proxy.behaviours[f"{PUBLIC}:80"] = answer(status=407)
    with pytest.raises(ProxyFailed) as failure:
        fetch_through(proxy)
    assert failure.value.details == {"status_code": 407}


def test_a_proxy_that_nobody_runs_is_its_own_failure(proxy: ScriptedServer) -> None:
    by = proxy_at(proxy)
    guarded = through(proxy, by=by)
    proxy.__exit__(None, None, None)
    with pytest.raises(ProxyFailed):
        guarded.fetch(request(URL))


@pytest.mark.parametrize("status", [502, 504])
def test_a_host_that_the_proxy_can_not_reach_is_the_hosts_failure(
    proxy: ScriptedServer, status: int
) -> None:
    proxy.behaviours[f"{PUBLIC}:80"] = proxy.behaviours[f"{OTHER_PUBLIC}:80"] = answer(
        status=status
    )
    guarded = through(proxy, resolver=ScriptedResolver([PUBLIC, OTHER_PUBLIC]))
    with pytest.raises(FetchFailed) as failure:
        guarded.fetch(request(URL))
    assert not isinstance(failure.value, ProxyFailed)
    assert failure.value.details == {"reason": "connection"}
    assert asked_for(proxy) == [f"{PUBLIC}:80", f"{OTHER_PUBLIC}:80"]


def drip_a_handshake(sock: socket.socket, stopping: Event) -> None:
    """Send a 16 KB record byte by byte; it starts like the server's part of a TLS handshake."""
    sock.recv(65536)
    for byte in b"\x16\x03\x03\x40\x00\x02" + bytes(16_000):
        sock.sendall(bytes([byte]))
        if stopping.wait(0.05):
            return


@pytest.mark.parametrize("encrypted", [False, True], ids=["http proxy", "https proxy"])
def test_the_deadline_holds_over_a_handshake_inside_a_tunnel(
    authority: trustme.CA, encrypted: bool
) -> None:
    proxy_tls = serving(authority, HOST) if encrypted else None
    with (
        ScriptedServer(tls=proxy_tls) as proxy,
        ScriptedServer(on_connect=drip_a_handshake) as site,
    ):
        proxy.behaviours[f"{PUBLIC}:443"] = tunnel(site)
        guarded = through(proxy, tls=trusting(authority))
        began = time.monotonic()
        with pytest.raises(FetchTimeout):
            guarded.fetch(request("https://site.example/", total_seconds=0.5, read_seconds=0.3))
        assert time.monotonic() - began < WELL_BEFORE_SECONDS


@pytest.mark.parametrize(
    "behaviour", [silence, drip(head(200), itertools.repeat(b"x"), 0.05)], ids=["silent", "slow"]
)
def test_the_deadline_holds_inside_a_tunnel(
    proxy: ScriptedServer, server: ScriptedServer, behaviour: Behaviour
) -> None:
    proxy.behaviours[f"{PUBLIC}:80"] = tunnel(server)
    server.behaviours["/page"] = behaviour
    with pytest.raises(FetchTimeout) as failure:
        fetch_through(proxy, total_seconds=0.5)
    assert failure.value.message == "site.example did not answer within 0.5 s"

"""Trials of a proxy that follow redirects: every host is checked like the first one."""

from collections.abc import Iterator

import pytest

from spinneret.kernel.errors import CircuitOpen, DomainBlocked, UrlBlocked
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.politeness.models import HostOutcome, PaceLimits, Permit
from spinneret.web.proxies.models import ProxyTestResult
from spinneret.web.proxies.service import ServerDraft
from spinneret.web.proxies.trials import ProxyTrials
from tests.fakes.connect_proxy import tunnel
from tests.fakes.guarded_fetch import PAGE, PUBLIC, ScriptedResolver, fetcher
from tests.fakes.proxies import Proxies
from tests.fakes.scripted_server import ScriptedServer, answer, in_turn, redirect
from tests.fakes.time import HandClock

URL = "http://site.example/page"


@pytest.fixture
def proxy(server: ScriptedServer) -> Iterator[ScriptedServer]:
    """Start a proxy that tunnels each request to the scripted server, whatever its target."""
    with ScriptedServer(fallback=tunnel(server)) as running:
        yield running


@pytest.fixture
def proxies() -> Proxies:
    return Proxies(HandClock())


def try_proxy(proxies: Proxies, proxy: ScriptedServer) -> ProxyTestResult:
    """Try the proxy with the real fetcher; every name resolves to a public address."""
    trials = ProxyTrials(
        store=proxies.store,
        rotation=proxies.rotation,
        hosts=proxies.hosts.service,
        pace=proxies.hosts.pace,
        policy=AddressPolicy(frozenset({proxy.pair})),
        through=fetcher(proxy, resolver=ScriptedResolver([PUBLIC])).through,
        clock=proxies.clock,
    )
    return trials.try_server("acme", ServerDraft(url=f"http://{proxy.pair}"), URL)


def open_breaker(proxies: Proxies, host: str) -> None:
    for number in range(5):
        admitted = proxies.hosts.pace.admit(host, owner=f"job-{number}", limits=PaceLimits())
        assert isinstance(admitted, Permit)
        proxies.hosts.pace.report(admitted, HostOutcome.HOST_FAILURE)


def test_a_trial_follows_redirects_to_other_hosts(
    proxies: Proxies, proxy: ScriptedServer, server: ScriptedServer
) -> None:
    server.fallback = in_turn(redirect("http://other.example/"), answer(PAGE, status=404))
    trial = try_proxy(proxies, proxy)
    assert (trial.reachable, trial.status_code, len(server.requests)) == (True, 404, 2)


@pytest.mark.parametrize("hops", [1, 2])
def test_a_trial_is_not_led_to_a_blocked_domain(
    proxies: Proxies, proxy: ScriptedServer, server: ScriptedServer, hops: int
) -> None:
    proxies.hosts.service.block("acme", "blocked.example", "asked us to")
    ways = [redirect("http://other.example/")] * (hops - 1)
    server.fallback = in_turn(*ways, redirect("http://www.blocked.example/"))
    with pytest.raises(DomainBlocked):
        try_proxy(proxies, proxy)
    assert len(server.requests) == hops


def test_a_trial_is_not_led_to_a_host_that_is_left_alone(
    proxies: Proxies, proxy: ScriptedServer, server: ScriptedServer
) -> None:
    open_breaker(proxies, "broken.example")
    server.fallback = in_turn(redirect("http://broken.example/"), answer(PAGE))
    with pytest.raises(CircuitOpen):
        try_proxy(proxies, proxy)
    assert len(server.requests) == 1


def test_a_trial_is_not_led_inside(
    proxies: Proxies, proxy: ScriptedServer, server: ScriptedServer
) -> None:
    server.fallback = redirect("http://169.254.169.254/latest/")
    trial = try_proxy(proxies, proxy)
    assert (trial.reachable, type(trial.error)) == (False, UrlBlocked)
    assert len(server.requests) == 1

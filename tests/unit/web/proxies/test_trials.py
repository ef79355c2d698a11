"""Proxy tests, under the rules that apply to every fetch."""

import pytest

from spinneret.kernel.errors import (
    BodyTooLarge,
    CircuitOpen,
    DomainBlocked,
    DomainError,
    FetchFailed,
    FetchTimeout,
    NotFound,
    ProxyFailed,
    RateLimited,
    UrlBlocked,
    UrlInvalid,
)
from spinneret.web.hosts.models import Override
from spinneret.web.politeness.models import Circuit, HostOutcome, PaceLimits, Permit
from spinneret.web.proxies.models import ProxyTestResult
from tests.fakes.fetching import fetched_page
from tests.fakes.proxies import Proxies
from tests.fakes.time import HandClock
from tests.unit.web.proxies.drafts import SPIDER, draft, server

URL = "https://site.example/page"
SERVER_URL = "http://proxy.example:1"


@pytest.fixture(autouse=True)
def _a_page(proxies: Proxies) -> None:
    proxies.pages[URL] = fetched_page(URL, status_code=404)


def test_a_server_that_works_shows_the_hosts_answer(proxies: Proxies) -> None:
    trial = proxies.trials.try_server("acme", server(credentials=SPIDER), URL)
    assert trial == ProxyTestResult(
        server_url=SERVER_URL, reachable=True, status_code=404, duration_ms=1
    )
    [by], [request] = proxies.ways.taken, proxies.ways.requests
    assert (by.username, by.password) == ("spider", "silk")
    assert request.total_seconds <= 15


@pytest.mark.parametrize(
    ("error", "reachable"),
    [
        (ProxyFailed("the proxy refused the credentials"), False),
        (FetchFailed("the connection failed"), False),
        (FetchTimeout("did not answer in time"), False),
        (UrlBlocked("leads inside"), False),
        (BodyTooLarge("too large"), True),
    ],
)
def test_a_failure_is_an_answer(proxies: Proxies, error: DomainError, reachable: bool) -> None:
    proxies.ways.broken[1] = error
    trial = proxies.trials.try_server("acme", server(), URL)
    assert (trial.reachable, trial.status_code, trial.error) == (reachable, None, error)


def test_a_trial_of_a_config_is_of_the_server_that_was_named_and_counts_for_it(
    proxies: Proxies, clock: HandClock
) -> None:
    config = proxies.service.create("acme", draft(is_active=False))
    proxies.ways.broken[2] = ProxyFailed("refused")
    for _ in range(2):
        assert not proxies.trials.try_config("acme", config.id, 1, URL).reachable
        clock.advance(10)
    assert proxies.service.get("acme", config.id).failures == (0, 2, 0)
    del proxies.ways.broken[2]
    assert proxies.trials.try_config("acme", config.id, 1, URL).reachable
    assert proxies.service.get("acme", config.id).failures == (0, 0, 0)
    assert [by.port for by in proxies.ways.taken] == [2, 2, 2]


def test_a_failure_of_the_host_counts_for_no_proxy(proxies: Proxies) -> None:
    config = proxies.service.create("acme", draft())
    proxies.ways.broken[1] = FetchFailed("the host's")
    assert not proxies.trials.try_config("acme", config.id, 0, URL).reachable
    assert proxies.service.get("acme", config.id).failures == (0, 0, 0)


def test_foreign_configs_and_missing_servers_are_not_found(proxies: Proxies) -> None:
    config = proxies.service.create("acme", draft())
    for tenant, config_id, position in (
        ("other", config.id, 0),
        ("acme", "proxy_unknown", 0),
        ("acme", config.id, 3),
    ):
        with pytest.raises(NotFound):
            proxies.trials.try_config(tenant, config_id, position, URL)
    assert proxies.ways.taken == []


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://127.0.0.1/", UrlBlocked),
        ("http://169.254.169.254/latest", UrlBlocked),
        ("ftp://site.example/", UrlInvalid),
        ("http://spider:silk@site.example/", UrlInvalid),
    ],
)
def test_what_may_not_be_fetched_may_not_be_tried(
    proxies: Proxies, url: str, error: type[DomainError]
) -> None:
    with pytest.raises(error):
        proxies.trials.try_server("acme", server(), url)
    assert proxies.ways.taken == []


def test_a_server_inside_is_refused(proxies: Proxies) -> None:
    with pytest.raises(UrlBlocked):
        proxies.trials.try_server("acme", server(url="http://10.0.0.1:3128"), URL)


def test_blocks_and_breakers_hold_for_trials(proxies: Proxies) -> None:
    proxies.hosts.service.block("acme", "site.example", "asked us to")
    with pytest.raises(DomainBlocked):
        proxies.trials.try_server("acme", server(), URL)
    for number in range(5):
        admitted = proxies.hosts.pace.admit(
            "site.example", owner=f"job-{number}", limits=PaceLimits()
        )
        assert isinstance(admitted, Permit)
        proxies.hosts.pace.report(admitted, HostOutcome.HOST_FAILURE)
    with pytest.raises(CircuitOpen):
        proxies.trials.try_server("other", server(), URL)
    assert proxies.ways.taken == []


def test_trials_keep_to_the_pace_of_the_host(proxies: Proxies, clock: HandClock) -> None:
    for _ in range(5):
        proxies.trials.try_server("acme", server(), URL)
    with pytest.raises(RateLimited) as refusal:
        proxies.trials.try_server("other", server(), URL)
    assert refusal.value.retry_after == 1
    assert len(proxies.ways.taken) == 5
    clock.advance(10)
    proxies.trials.try_server("other", server(), URL)


def test_trials_keep_to_the_tenants_own_pace(proxies: Proxies, clock: HandClock) -> None:
    proxies.hosts.service.put("acme", "site.example", Override(min_gap_seconds=60), None)
    proxies.trials.try_server("acme", server(), URL)
    clock.advance(59)
    with pytest.raises(RateLimited):
        proxies.trials.try_server("acme", server(), URL)


@pytest.mark.parametrize("error", [ProxyFailed("x"), FetchFailed("x"), FetchTimeout("x")])
def test_a_tenants_proxy_can_not_open_the_breaker_of_a_host(
    proxies: Proxies, clock: HandClock, error: DomainError
) -> None:
    proxies.ways.broken[1] = error
    for _ in range(10):
        proxies.trials.try_server("acme", server(), URL)
        clock.advance(10)
    breaker = proxies.hosts.pace.state("site.example")
    assert (breaker.circuit, breaker.failures) == (Circuit.CLOSED, 0)

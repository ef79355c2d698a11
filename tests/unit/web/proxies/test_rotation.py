"""Rotation of proxies: turns, uses and failures."""

import logging

import pytest

from spinneret.kernel.errors import (
    DependencyUnavailable,
    FetchFailed,
    FetchTimeout,
    ProxyFailed,
    SecretUnreadable,
)
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.urls import parse_url
from spinneret.web.proxies.models import ProxyConfig
from spinneret.web.proxies.models import RotationStrategy as Strategy
from spinneret.web.proxies.rotation import RotatingFetcher
from tests.fakes.fetching import FakeFetcher, fetched_page
from tests.fakes.proxies import Proxies
from tests.fakes.time import HandClock
from tests.unit.web.proxies.drafts import SPIDER, draft, server

URL = "https://site.example/page"
HOUR = 3600


def stored(proxies: Proxies, strategy: Strategy = Strategy.ROUND_ROBIN) -> ProxyConfig:
    """Store a configuration of three servers, with the ports 1, 2 and 3."""
    return proxies.service.create("acme", draft(strategy=strategy))


def ports(proxies: Proxies, config: ProxyConfig, times: int) -> list[int]:
    """Return the ports of the servers that the rotation chooses."""
    routes = (proxies.rotation.choose(config.tenant, config.id) for _ in range(times))
    return [route.proxy.port for route in routes if route]


def fail(proxies: Proxies, config: ProxyConfig, position: int, times: int = 3) -> None:
    for _ in range(times):
        proxies.rotation.report(proxies.rotation.route(config, position), succeeded=False)


@pytest.fixture
def fetcher(proxies: Proxies) -> RotatingFetcher:
    proxies.pages[URL] = fetched_page(URL)
    return proxies.fetcher(FakeFetcher(proxies.pages))


# ---------------------------------------------------------------- Strategies


# covers F-08
def test_round_robin_takes_one_after_the_other(proxies: Proxies) -> None:
    assert ports(proxies, stored(proxies), 7) == [1, 2, 3, 1, 2, 3, 1]


def test_least_used_prefers_whoever_had_the_fewest(proxies: Proxies, clock: HandClock) -> None:
    config = stored(proxies, Strategy.LEAST_USED)
    assert ports(proxies, config, 3) == [1, 2, 3]
    proxies.chance = 0.99
    assert ports(proxies, config, 3) == [3, 2, 1]
    fail(proxies, config, 0)
    assert ports(proxies, config, 4) == [3, 2, 3, 2]
    clock.advance(HOUR)
    assert ports(proxies, config, 3) == [3, 2, 1]


def test_random_asks_chance(proxies: Proxies) -> None:
    config = stored(proxies, Strategy.RANDOM)
    for chance, port in ((0.0, 1), (0.4, 2), (0.9, 3)):
        proxies.chance = chance
        assert ports(proxies, config, 1) == [port]


# covers F-08
@pytest.mark.parametrize("strategy", list(Strategy))
def test_a_failing_server_rests_for_an_hour_while_others_are_left(
    proxies: Proxies, clock: HandClock, strategy: Strategy
) -> None:
    config = stored(proxies, strategy)
    fail(proxies, config, 0)
    assert 1 not in ports(proxies, config, 9)
    fail(proxies, config, 1)
    assert set(ports(proxies, config, 9)) == {3}
    fail(proxies, config, 2)
    proxies.chance = 0.0
    assert 1 in ports(proxies, config, 3)
    clock.advance(HOUR)
    assert 1 in ports(proxies, config, 3)


def test_a_success_ends_a_row_of_failures(proxies: Proxies) -> None:
    config = stored(proxies)
    fail(proxies, config, 0, times=2)
    assert proxies.service.get("acme", config.id).failures == (2, 0, 0)
    proxies.rotation.report(proxies.rotation.route(config, 0), succeeded=True)
    fail(proxies, config, 0, times=2)
    assert ports(proxies, config, 3) == [1, 2, 3]
    assert proxies.service.get("acme", config.id).failures == (2, 0, 0)


def test_a_changed_config_begins_anew(proxies: Proxies) -> None:
    config = stored(proxies)
    fail(proxies, config, 0)
    assert ports(proxies, config, 1) == [2]
    proxies.service.replace("acme", config.id, draft())
    assert ports(proxies, config, 2) == [1, 2]
    fail(proxies, config, 1)  # reported by a fetch that began before the change
    assert proxies.service.get("acme", config.id).failures == (0, 0, 0)


# ---------------------------------------------------------------- Fetches without a proxy


def test_an_inactive_an_unknown_and_no_config_is_the_direct_way(
    proxies: Proxies, fetcher: RotatingFetcher
) -> None:
    inactive = proxies.service.create("acme", draft(is_active=False))
    for config_id in (inactive.id, "proxy_unknown", None):
        route = fetcher.choose("acme", config_id)
        assert route is None
        assert fetcher.fetch(route, FetchRequest(url=parse_url(URL))).status_code == 200
    assert proxies.ways.taken == []


def test_an_outage_is_not_the_direct_way(proxies: Proxies, fetcher: RotatingFetcher) -> None:
    config = proxies.service.create("acme", draft(server(credentials=SPIDER)))
    for part in (proxies.store, proxies.usage, proxies.sealer):
        part.available = False
        with pytest.raises(DependencyUnavailable):
            fetcher.choose("acme", config.id)
        part.available = True


def test_credentials_that_can_not_be_opened_are_not_the_direct_way(
    proxies: Proxies, fetcher: RotatingFetcher
) -> None:
    config = proxies.service.create("acme", draft(server(credentials=SPIDER)))
    stolen = ProxyConfig(**{**vars(config), "tenant": "other"})
    proxies.store.add(stolen)
    with pytest.raises(SecretUnreadable):
        fetcher.choose("other", config.id)


# ---------------------------------------------------------------- Fetches


def test_a_page_comes_by_way_of_the_server_that_is_picked_next(
    proxies: Proxies, fetcher: RotatingFetcher
) -> None:
    config = proxies.service.create("acme", draft(server(1, credentials=SPIDER), server(2)))
    for _ in range(2):
        fetcher.fetch(fetcher.choose("acme", config.id), FetchRequest(url=parse_url(URL)))
    assert [(by.port, by.username, by.password) for by in proxies.ways.taken] == [
        (1, "spider", "silk"),
        (2, None, ""),
    ]


def test_only_a_proxys_own_failure_is_counted_against_it(
    proxies: Proxies, fetcher: RotatingFetcher
) -> None:
    config = stored(proxies)
    for error, failures in (
        (FetchFailed("the host's"), 0),
        (FetchTimeout("the host's"), 0),
        (ProxyFailed("its own"), 1),
    ):
        route = proxies.rotation.route(config, 0)
        proxies.ways.broken[1] = error
        with pytest.raises(type(error)):
            fetcher.fetch(route, FetchRequest(url=parse_url(URL)))
        assert proxies.service.get("acme", config.id).failures[0] == failures
    proxies.ways.broken.clear()
    fetcher.fetch(proxies.rotation.route(config, 0), FetchRequest(url=parse_url(URL)))
    assert proxies.service.get("acme", config.id).failures[0] == 0


@pytest.mark.parametrize("broken", [False, True])
def test_a_report_that_is_lost_loses_no_page_and_hides_no_failure(
    proxies: Proxies, fetcher: RotatingFetcher, broken: bool, caplog: pytest.LogCaptureFixture
) -> None:
    config = stored(proxies)
    fail(proxies, config, 0, times=1)
    route = proxies.rotation.route(config, 0)
    proxies.usage.available = False
    with caplog.at_level(logging.WARNING):
        if broken:
            proxies.ways.broken[1] = ProxyFailed("its own")
            with pytest.raises(ProxyFailed):
                fetcher.fetch(route, FetchRequest(url=parse_url(URL)))
        else:
            assert fetcher.fetch(route, FetchRequest(url=parse_url(URL))).status_code == 200
    assert [record.message for record in caplog.records] == ["proxy_report_lost"]

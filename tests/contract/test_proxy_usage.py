"""Contract tests of proxy usage stores: the fake, moto, and DynamoDB Local."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random

import pytest

from spinneret.web.proxies import rules
from spinneret.web.proxies.dynamo import DynamoProxyStore
from spinneret.web.proxies.dynamo_usage import DynamoProxyUsageStore
from spinneret.web.proxies.models import (
    Failures,
    ProxyConfig,
    ProxyServer,
    RotationStrategy,
    Usage,
)
from spinneret.web.proxies.ports import ProxyUsageStore
from spinneret.web.proxies.rotation import ProxyRotation
from spinneret.web.proxies.service import CredentialSeal
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.proxies import FakeProxyUsageStore
from tests.fakes.sealing import FakeSealer
from tests.fakes.time import START, HandClock

NOW = 1_767_355_200
HOUR = 3600


@pytest.fixture
def usage(tables: Tables | None) -> ProxyUsageStore:
    if tables is None:
        return FakeProxyUsageStore()
    return DynamoProxyUsageStore(tables.client, tables.names["Domains"])


@pytest.fixture
def config(tenant: str) -> ProxyConfig:
    return ProxyConfig(
        tenant=tenant,
        id="proxy_1",
        name="main",
        servers=tuple(ProxyServer(url=f"http://proxy.example:{port}") for port in range(1, 51)),
        strategy=RotationStrategy.ROUND_ROBIN,
        is_active=True,
        created_at=START,
        updated_at=START,
    )


@OF_AWS
def test_nothing_is_known_at_first(usage: ProxyUsageStore, config: ProxyConfig) -> None:
    assert usage.read(config) == Usage()


@OF_AWS
def test_every_pick_has_another_count(usage: ProxyUsageStore, config: ProxyConfig) -> None:
    assert [usage.count_pick(config, NOW).picks for _ in range(3)] == [1, 2, 3]
    assert usage.read(config) == Usage(picks=3)


@OF_AWS
def test_a_pick_answers_the_whole_state(usage: ProxyUsageStore, config: ProxyConfig) -> None:
    usage.add_failure(config, 49, NOW)
    usage.count_use(config, 7, Usage(), NOW)
    expected = Usage(
        picks=1,
        counted_since=NOW,
        uses={7: 1},
        failures={49: Failures(count=1, last_at=NOW)},
    )
    assert usage.count_pick(config, NOW) == usage.read(config) == expected


@OF_AWS
def test_a_use_is_counted_if_the_count_is_as_it_was_seen(
    usage: ProxyUsageStore, config: ProxyConfig
) -> None:
    assert usage.count_use(config, 0, Usage(), NOW) is None
    first = usage.read(config)
    assert first == Usage(counted_since=NOW, uses={0: 1})
    assert usage.count_use(config, 0, Usage(), NOW + 1) == first
    assert usage.count_use(config, 1, Usage(), NOW + 1) == first
    assert usage.count_use(config, 0, first, NOW + 1) is None
    second = Usage(counted_since=NOW, uses={0: 2})
    assert usage.count_use(config, 0, first, NOW + 2) == second
    assert usage.count_use(config, 1, first, NOW + 2) is None
    assert usage.read(config) == Usage(counted_since=NOW, uses={0: 2, 1: 1})


@OF_AWS
def test_counts_begin_anew_after_an_hour(usage: ProxyUsageStore, config: ProxyConfig) -> None:
    for position in range(6):
        assert usage.count_use(config, position, usage.read(config), NOW) is None
    usage.add_failure(config, 3, NOW)
    usage.count_pick(config, NOW)
    seen = usage.read(config)
    assert usage.count_use(config, 5, seen, NOW + HOUR) is None
    after = usage.read(config)
    assert after == replace(seen, counted_since=NOW + HOUR, uses={5: 1})
    assert usage.count_use(config, 6, seen, NOW + HOUR) == after


@OF_AWS
def test_failures_are_counted_in_a_row_and_forgotten_after_an_hour(
    usage: ProxyUsageStore, config: ProxyConfig
) -> None:
    for second in (0, 10, 20 + HOUR - 11):
        usage.add_failure(config, 2, NOW + second)
    usage.add_failure(config, 12, NOW)
    last = NOW + 20 + HOUR - 11
    assert usage.read(config).failures == {
        2: Failures(count=3, last_at=last),
        12: Failures(count=1, last_at=NOW),
    }
    usage.add_failure(config, 2, last + HOUR)
    assert usage.read(config).failures[2] == Failures(count=1, last_at=last + HOUR)


@OF_AWS
def test_a_success_ends_the_row_of_its_own_server(
    usage: ProxyUsageStore, config: ProxyConfig
) -> None:
    usage.clear_failures(config, 1)
    for position in (1, 11):
        usage.add_failure(config, position, NOW)
    usage.clear_failures(config, 1)
    assert set(usage.read(config).failures) == {11}
    usage.add_failure(config, 1, NOW)
    assert usage.read(config).failures[1].count == 1


@OF_AWS
def test_versions_configs_and_tenants_are_counted_apart(
    usage: ProxyUsageStore, config: ProxyConfig
) -> None:
    usage.count_pick(config, NOW)
    others = (
        replace(config, version=2),
        replace(config, id="proxy_2"),
        replace(config, tenant=f"{config.tenant}x"),
    )
    assert [usage.read(other).picks for other in others] == [0, 0, 0]


# ---------------------------------------------------------------- Many workers


def chosen(tables: Tables, config: ProxyConfig, workers: int, each: int) -> Counter[int]:
    """Let workers, each with its own service, choose servers; return the choices per server."""
    clock = HandClock()

    def work(number: int) -> list[int]:
        rotation = ProxyRotation(
            store=DynamoProxyStore(tables.client, tables.names["Domains"]),
            usage=DynamoProxyUsageStore(tables.client, tables.names["Domains"]),
            seal=CredentialSeal(sealer=FakeSealer()),
            clock=clock,
            random=Random(number).random,
        )
        routes = [rotation.choose(config.tenant, config.id) for _ in range(each)]
        return [route.position for route in routes if route]

    with ThreadPoolExecutor(workers) as pool:
        return Counter(position for part in pool.map(work, range(workers)) for position in part)


@pytest.mark.stack
def test_workers_that_choose_at_once_use_the_servers_evenly(
    stack_tables: Tables, config: ProxyConfig
) -> None:
    config = replace(config, servers=config.servers[:5])
    DynamoProxyStore(stack_tables.client, stack_tables.names["Domains"]).add(config)
    assert chosen(stack_tables, config, workers=8, each=15) == dict.fromkeys(range(5), 24)


@pytest.mark.stack
def test_workers_that_choose_at_once_count_at_the_least_used(
    stack_tables: Tables, config: ProxyConfig
) -> None:
    config = replace(config, servers=config.servers[:5], strategy=RotationStrategy.LEAST_USED)
    DynamoProxyStore(stack_tables.client, stack_tables.names["Domains"]).add(config)
    took = chosen(stack_tables, config, workers=8, each=15)
    ledger = DynamoProxyUsageStore(stack_tables.client, stack_tables.names["Domains"])
    counted = ledger.read(config).uses
    assert max(counted.values()) - min(counted.values()) <= 1
    assert sum(took.values()) == 120
    assert all(counted[position] <= took[position] for position in range(5))
    assert sum(counted.values()) >= 110  # a few collided too often to be counted


@pytest.mark.stack
def test_failures_that_are_reported_at_once_are_all_counted(
    stack_tables: Tables, config: ProxyConfig
) -> None:
    ledger = DynamoProxyUsageStore(stack_tables.client, stack_tables.names["Domains"])
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: ledger.add_failure(config, 0, NOW), range(3)))
    assert rules.is_resting(ledger.read(config), 0, NOW)

"""Contract tests of proxy stores: the fake, moto, and DynamoDB Local."""

from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from spinneret.kernel.errors import Conflict
from spinneret.web.proxies import limits
from spinneret.web.proxies.dynamo import DynamoProxyStore
from spinneret.web.proxies.models import ProxyConfig, ProxyServer, RotationStrategy
from spinneret.web.proxies.ports import ProxyStore
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.proxies import FakeProxyStore
from tests.fakes.time import START

pytestmark = OF_AWS

SECOND = timedelta(seconds=1)
_numbers = count()


@pytest.fixture
def proxies(tables: Tables | None) -> ProxyStore:
    if tables is None:
        return FakeProxyStore()
    return DynamoProxyStore(tables.client, tables.names["Domains"])


def config(tenant: str, **given: Any) -> ProxyConfig:
    number = next(_numbers)
    values: dict[str, Any] = {
        "id": f"proxy_{number:04}",
        "name": f"name {number}",
        "servers": (ProxyServer(url="http://proxy.example:3128"),),
        "strategy": RotationStrategy.ROUND_ROBIN,
        "is_active": True,
        "created_at": START,
        "updated_at": START,
    }
    return ProxyConfig(tenant=tenant, **values | given)


def added(proxies: ProxyStore, *configs: ProxyConfig) -> None:
    for each in configs:
        proxies.add(each)


def changed(former: ProxyConfig, **changes: Any) -> ProxyConfig:
    return replace(former, version=former.version + 1, updated_at=START + SECOND, **changes)


FULL = tuple(
    ProxyServer(
        url=f"https://{'x' * 60}.proxy-{number}.example:8443",
        sealed_credentials=bytes(range(256)) * 9,
    )
    for number in range(limits.PROXY_SERVERS_MAX)
)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"servers": FULL},
        {"servers": (ProxyServer(url="http://a:1", sealed_credentials=b"\x00\xff"),)},
        {"name": "🕷" * limits.PROXY_NAME_MAX_CHARS},
        {"is_active": False, "strategy": RotationStrategy.RANDOM},
        {"strategy": RotationStrategy.LEAST_USED, "updated_at": START + SECOND, "version": 7},
    ],
    ids=["plain", "largest", "binary", "longest name", "inactive", "changed"],
)
def test_a_config_is_found_as_it_was_added(
    proxies: ProxyStore, tenant: str, given: dict[str, Any]
) -> None:
    one = config(tenant, **given)
    added(proxies, one)
    assert proxies.get(tenant, one.id) == one
    assert proxies.page(tenant, None, 10).items == (one,)


@pytest.mark.parametrize("config_id", ["proxy_unknown", "", "x" * 3000, "a#b", "ü"])
def test_an_unknown_id_finds_nothing(proxies: ProxyStore, tenant: str, config_id: str) -> None:
    assert proxies.get(tenant, config_id) is None


def test_a_name_is_taken_once_per_tenant(proxies: ProxyStore, tenant: str) -> None:
    added(proxies, config(tenant, name="main"))
    second = config(tenant, name="main")
    with pytest.raises(Conflict):
        proxies.add(second)
    assert proxies.get(tenant, second.id) is None
    added(proxies, config(f"{tenant}x", name="main"), config(tenant, name="Main"))


def test_an_id_that_is_taken_stays_with_its_config(proxies: ProxyStore, tenant: str) -> None:
    first = config(tenant, name="main")
    added(proxies, first)
    with pytest.raises(Conflict):
        proxies.add(replace(first, name="other"))
    assert proxies.get(tenant, first.id) == first


def test_a_config_is_replaced_whole(proxies: ProxyStore, tenant: str) -> None:
    former = config(tenant, servers=FULL)
    added(proxies, former)
    new = changed(
        former,
        name="other",
        servers=(ProxyServer(url="http://a:1"),),
        strategy=RotationStrategy.RANDOM,
        is_active=False,
    )
    assert proxies.replace(former, new)
    assert proxies.get(tenant, former.id) == new


def test_a_name_moves_with_its_config(proxies: ProxyStore, tenant: str) -> None:
    former = config(tenant, name="main")
    added(proxies, former)
    new = changed(former, name="other")
    assert proxies.replace(former, new)
    added(proxies, config(tenant, name="main"))
    with pytest.raises(Conflict):
        proxies.add(config(tenant, name="other"))


def test_a_config_can_keep_its_name(proxies: ProxyStore, tenant: str) -> None:
    former = config(tenant)
    added(proxies, former)
    new = changed(former, is_active=False)
    assert proxies.replace(former, new)
    assert proxies.replace(new, changed(new))


def test_a_config_can_not_take_anothers_name(proxies: ProxyStore, tenant: str) -> None:
    former = config(tenant)
    added(proxies, former, config(tenant, name="main"))
    with pytest.raises(Conflict):
        proxies.replace(former, changed(former, name="main"))
    assert proxies.get(tenant, former.id) == former


def test_only_what_stands_is_replaced_or_removed(proxies: ProxyStore, tenant: str) -> None:
    former = config(tenant)
    added(proxies, former, config(tenant, name="main"))
    new = changed(former)
    assert proxies.replace(former, new)
    assert not proxies.replace(former, changed(former, is_active=False))
    assert not proxies.replace(former, changed(former, name="main"))
    assert not proxies.remove(former)
    assert proxies.get(tenant, former.id) == new


def test_a_removed_config_is_gone_and_its_name_free(proxies: ProxyStore, tenant: str) -> None:
    one = config(tenant, name="main")
    added(proxies, one)
    assert proxies.remove(one)
    assert proxies.get(tenant, one.id) is None
    assert proxies.page(tenant, None, 10).items == ()
    assert not proxies.remove(one)
    assert not proxies.replace(one, changed(one))
    added(proxies, config(tenant, name="main"))


def test_configs_are_listed_newest_first_without_a_gap(proxies: ProxyStore, tenant: str) -> None:
    configs = [config(tenant) for _ in range(5)]
    added(proxies, *configs)
    for limit in (1, 2, 4, 5, 6):
        found: list[str] = []
        after = None
        while True:
            page = proxies.page(tenant, after, limit)
            assert len(page.items) <= limit
            found += [each.id for each in page.items]
            if page.after is None:
                break
            after = page.after
        assert found == [each.id for each in reversed(configs)]


@pytest.mark.heavy
def test_configs_of_over_a_megabyte_are_listed_all(proxies: ProxyStore, tenant: str) -> None:
    configs = [config(tenant, servers=FULL) for _ in range(12)]
    added(proxies, *configs)
    first = proxies.page(tenant, None, 100)
    rest = proxies.page(tenant, first.after, 100) if first.after else None
    found = [*first.items, *(rest.items if rest else ())]
    assert found == configs[::-1]


def test_tenants_do_not_see_each_others_configs(proxies: ProxyStore, tenant: str) -> None:
    one = config(tenant)
    added(proxies, one)
    other = f"{tenant}x"
    assert proxies.get(other, one.id) is None
    assert proxies.page(other, None, 10).items == ()
    assert not proxies.remove(replace(one, tenant=other))
    assert not proxies.replace(replace(one, tenant=other), changed(replace(one, tenant=other)))
    assert proxies.get(tenant, one.id) == one

"""Contract tests of crawl config stores, except names: one default per tenant, references."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spinneret.aws import dynamo
from spinneret.aws.named_rows import NamedItemTable
from spinneret.crawl.configs.dynamo import KIND, DynamoConfigStore
from spinneret.crawl.configs.models import Config
from spinneret.kernel.errors import Conflict
from tests.contract.backends import OF_AWS, OF_REAL_AWS, Tables
from tests.contract.named.configs import row
from tests.fakes.configs import FakeConfigStore


@pytest.fixture
def store(tables: Tables | None) -> Any:
    if tables is None:
        return FakeConfigStore()
    return DynamoConfigStore(tables.client, tables.names["CrawlDefinitions"])


@pytest.fixture
def made(store: Any, tenant: str) -> Callable[..., Config]:
    """Provide a function that stores a config of the test's tenant."""

    def make(name: str, *, is_default: bool = False) -> Config:
        config = replace(row(tenant, f"config_{name}", name), is_default=is_default)
        store.add(config)
        return config

    return make


def changed(config: Config, **changes: Any) -> Config:
    return replace(config, version=config.version + 1, **changes)


@OF_AWS
def test_a_new_default_takes_the_place_of_the_one_before(
    store: Any, made: Callable[..., Config], tenant: str
) -> None:
    assert store.default(tenant) is None
    first = made("first", is_default=True)
    assert store.default(tenant) == first
    second = made("second", is_default=True)
    assert store.default(tenant) == second
    assert store.get(tenant, first.id) == replace(first, is_default=False)
    page = store.page(tenant, None, 9)
    assert {each.id: each.is_default for each in page.items} == {
        first.id: False,
        second.id: True,
    }


@OF_AWS
def test_a_config_becomes_the_default_and_ceases_to_be_it(
    store: Any, made: Callable[..., Config], tenant: str
) -> None:
    config = made("one")
    default = changed(config, is_default=True)
    assert store.replace(config, default)
    assert store.default(tenant) == default
    former = changed(default, is_default=False)
    assert store.replace(default, former)
    assert store.default(tenant) is None


@OF_AWS
def test_what_another_config_has_taken_over_is_not_written_over(
    store: Any, made: Callable[..., Config], tenant: str
) -> None:
    config = made("one", is_default=True)
    other = made("other", is_default=True)
    assert not store.replace(config, changed(config, is_default=False))
    assert store.default(tenant) == other


@OF_AWS
def test_a_default_that_is_removed_is_none(
    store: Any, made: Callable[..., Config], tenant: str
) -> None:
    assert store.remove(made("one", is_default=True))
    assert store.default(tenant) is None
    made("one")
    assert store.default(tenant) is None


@OF_REAL_AWS
def test_a_row_that_others_refer_to_is_kept(
    store: Any, made: Callable[..., Config], tables: Tables, tenant: str
) -> None:
    config = made("one")
    rows = NamedItemTable(tables.client, tables.names["CrawlDefinitions"], KIND)
    for _ in range(2):
        dynamo.transact(tables.client, rows.reference_writes(tenant, config.id))
    dynamo.transact(tables.client, rows.unrefer(tenant, config.id))
    with pytest.raises(Conflict):
        store.remove(config)
    assert store.replace(config, changed(config, name="renamed"))
    dynamo.transact(tables.client, rows.unrefer(tenant, config.id))
    assert store.remove(changed(config, name="renamed"))
    with pytest.raises(dynamo.ConditionFailed) as refused:
        dynamo.transact(tables.client, rows.reference_writes(tenant, config.id))
    assert list(refused.value.standing) == [0]

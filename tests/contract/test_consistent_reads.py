"""What one call has written, the next one finds: reads of hosts and proxies never lag behind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spinneret.web.dynamo import DynamoProgressStore
from spinneret.web.fetching.urls import parse_url
from spinneret.web.hosts.dynamo import DynamoHostStore
from spinneret.web.hosts.models import Block
from spinneret.web.models import Caller, Progress
from spinneret.web.politeness.changes import ConditionalUpdate
from spinneret.web.politeness.dynamo import DynamoHostStateStore
from spinneret.web.politeness.models import Record
from spinneret.web.proxies.dynamo import DynamoProxyStore
from spinneret.web.proxies.dynamo_usage import DynamoProxyUsageStore
from spinneret.web.proxies.models import ProxyConfig, RotationStrategy
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.contract.stale import LaggingTable
from tests.fakes.time import START

pytestmark = OF_REAL_AWS


@pytest.fixture
def table(tables: Tables | None) -> tuple[LaggingTable, str]:
    assert tables is not None
    return LaggingTable(tables.client), tables.names["Domains"]


def test_the_host_ledger_reads_consistently(table: tuple[LaggingTable, str], tenant: str) -> None:
    ledger = DynamoHostStateStore(*table)  # type: ignore[arg-type]  # stands for a client
    host = f"{tenant}.example"
    ledger.update(host, Record.PACE, ConditionalUpdate(to={"tat": 5}))
    assert ledger.read(host, Record.PACE) == {"tat": 5}


def test_the_host_store_reads_consistently(table: tuple[LaggingTable, str], tenant: str) -> None:
    store = DynamoHostStore(*table)  # type: ignore[arg-type]  # stands for a client
    blocked = store.block(tenant, "site.example", Block(reason="r", since=START))
    assert store.find(tenant, ["site.example"]) == (blocked,)
    assert store.page(tenant, None, None, 10).items == (blocked,)


def test_progress_is_read_consistently(table: tuple[LaggingTable, str], tenant: str) -> None:
    store = DynamoProgressStore(*table)  # type: ignore[arg-type]  # stands for a client
    first, second = parse_url("https://a.example/"), parse_url("https://b.example/")
    caller, progress = Caller(tenant=tenant, id="job_1/1"), Progress(left=(first,), url=second)
    store.keep(caller, progress, START)
    assert store.find(caller, first, START) == progress


def test_proxies_and_their_usage_are_read_consistently(
    table: tuple[LaggingTable, str], tenant: str
) -> None:
    config = ProxyConfig(
        tenant=tenant,
        id="proxy_0123456789abcdef0123456789abcdef",
        name="main",
        servers=(),
        strategy=RotationStrategy.RANDOM,
        is_active=True,
        created_at=START,
        updated_at=START,
    )
    store = DynamoProxyStore(*table)  # type: ignore[arg-type]  # stands for a client
    store.add(config)
    assert store.get(tenant, config.id) == config
    usage = DynamoProxyUsageStore(*table)  # type: ignore[arg-type]  # stands for a client
    assert usage.count_pick(config, 5).picks == 1
    assert usage.read(config).picks == 1
    assert usage.read(replace(config, version=2)).picks == 0

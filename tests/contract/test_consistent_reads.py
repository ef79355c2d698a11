"""Consistent reads: where a read decides something, it finds what the previous call wrote."""

from dataclasses import replace

import pytest

from spinneret.aws import dynamo
from spinneret.jobs import rules
from spinneret.jobs.models import ChildCounts
from spinneret.jobs.ports import NewJob
from spinneret.outbox.dynamo import DynamoOutboxStore, event_write
from spinneret.outbox.models import DomainEvent, SubjectRef
from spinneret.web.dynamo import DynamoProgressStore
from spinneret.web.fetching.urls import parse_url
from spinneret.web.hosts.dynamo import DynamoHostStore
from spinneret.web.hosts.models import HostBlock
from spinneret.web.models import Caller, RedirectProgress
from spinneret.web.politeness.changes import ConditionalUpdate
from spinneret.web.politeness.dynamo import DynamoHostStateStore
from spinneret.web.politeness.models import Record
from spinneret.web.proxies.dynamo import DynamoProxyStore
from spinneret.web.proxies.dynamo_usage import DynamoProxyUsageStore
from spinneret.web.proxies.models import ProxyConfig, RotationStrategy
from tests import factories
from tests.contract.backends import OF_REAL_AWS, Tables, job_store
from tests.contract.stale import LaggingTable
from tests.contract.stored_jobs import new_job
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
    blocked = store.block(tenant, "site.example", HostBlock(reason="r", since=START))
    assert store.find(tenant, ["site.example"]) == (blocked,)
    assert store.page(tenant, None, None, 10).items == (blocked,)


def test_progress_is_read_consistently(table: tuple[LaggingTable, str], tenant: str) -> None:
    store = DynamoProgressStore(*table)  # type: ignore[arg-type]  # stands for a client
    first, second = parse_url("https://a.example/"), parse_url("https://b.example/")
    caller, progress = (
        Caller(tenant=tenant, id="job_1/1"),
        RedirectProgress(left=(first,), url=second),
    )
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


def test_the_outbox_reads_what_is_pending_consistently(tables: Tables, tenant: str) -> None:
    event = DomainEvent(
        tenant=tenant,
        type="crawl.completed",
        subject="job_1",
        sequence=1,
        occurred_at=START,
        data={},
    )
    name = tables.names["Events"]
    dynamo.transact(tables.client, [event_write(name, event)])
    store = DynamoOutboxStore(LaggingTable(tables.client), name)  # type: ignore[arg-type]  # stands for a client
    page = store.pending(SubjectRef(tenant=tenant, subject="job_1"), None, 10)
    assert [pending.event for pending in page.events] == [event]


def test_a_plan_and_its_counters_are_read_consistently(tables: Tables, tenant: str) -> None:
    store = job_store(replace(tables, client=LaggingTable(tables.client)))
    parent = new_job(tenant, family=rules.new_family(1))
    new = NewJob(job=parent, plan=["one"])
    store.submit([new], [factories.event()], None, factories.reply(), START)
    assert store.get(parent.ref) == parent
    assert store.plan(parent.ref, 0) == "one"
    assert store.child_counts(parent.ref, [0]) == [ChildCounts()]

"""Contract tests of stores of WebSocket connections."""

from dataclasses import replace
from typing import Any

import pytest

from spinneret.jobs import limits, rules
from spinneret.jobs.live.dynamo import DynamoConnectionStore
from spinneret.jobs.models import Connection, JobRef, Subscriber
from spinneret.jobs.ports import ConnectionStore, JobStore
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, NotFound
from tests import factories
from tests.contract.backends import OF_AWS, Tables
from tests.contract.stored_jobs import SECOND, claimed, submitted
from tests.fakes.jobs import FakeJobStore
from tests.fakes.live import FakeConnectionStore
from tests.fakes.time import START

pytestmark = OF_AWS


@pytest.fixture
def connections(store: JobStore, tables: Tables | None) -> ConnectionStore:
    if tables is None:
        assert isinstance(store, FakeJobStore)
        return FakeConnectionStore(store)
    return DynamoConnectionStore(tables.client, tables.names["Jobs"])


def connection(tenant: str, name: str = "one", **given: Any) -> Connection:
    return Connection(id=f"{tenant}-{name}=", tenant=tenant, **{"key_id": "key_1", **given})


def opened(
    connections: ConnectionStore, tenant: str, name: str = "one", **given: Any
) -> Connection:
    made = connection(tenant, name, **given)
    connections.open(made, START)
    return made


def subscribers_of(connections: ConnectionStore, ref: JobRef) -> list[str]:
    return sorted(each.connection_id for each in connections.subscribers(ref))


def watchers(store: JobStore, ref: JobRef) -> int:
    job = store.get(ref)
    assert job is not None
    return job.watchers


@pytest.mark.parametrize(
    "given", [{}, {"only_job": "job_1", "ends_at": START + SECOND / 3}], ids=["key", "ticket"]
)
def test_a_connection_is_found_until_it_is_closed(
    connections: ConnectionStore, tenant: str, given: dict[str, Any]
) -> None:
    one = opened(connections, tenant, **given)
    assert connections.find(one.id) == one
    connections.close(one.id)
    connections.close(one.id)
    assert connections.find(one.id) is None


def test_watchers_are_counted_on_the_job(
    store: JobStore, connections: ConnectionStore, tenant: str
) -> None:
    ref = submitted(store, tenant).ref
    one, two = opened(connections, tenant), opened(connections, tenant, "two")
    for each in (one, one, two):
        connections.subscribe(each, ref, START)
    assert subscribers_of(connections, ref) == sorted([one.id, two.id])
    assert watchers(store, ref) == 2
    connections.unsubscribe(one.id, ref)
    connections.unsubscribe(one.id, ref)
    assert (subscribers_of(connections, ref), watchers(store, ref)) == ([two.id], 1)
    connections.close(two.id)
    assert (subscribers_of(connections, ref), watchers(store, ref)) == ([], 0)


def test_a_job_knows_when_its_watchers_end(
    store: JobStore, connections: ConnectionStore, tenant: str
) -> None:
    ref = submitted(store, tenant).ref
    ends_at = START + SECOND / 3
    endless, brief = opened(connections, tenant), opened(connections, tenant, "x", ends_at=ends_at)
    for each in (endless, brief):
        connections.subscribe(each, ref, START)
    assert connections.subscribers(ref) == [
        Subscriber(connection_id=endless.id, ends_at=None),
        Subscriber(connection_id=brief.id, ends_at=ends_at),
    ]


def test_a_key_s_connections_are_found_page_by_page_until_they_are_closed(
    connections: ConnectionStore, tenant: str
) -> None:
    ids = [opened(connections, tenant, name).id for name in "cab"]
    opened(connections, tenant, "d", key_id="key_2")
    opened(connections, f"{tenant}x")
    first = connections.opened_with(tenant, "key_1", None, 2)
    assert first == sorted(ids)[:2]
    assert connections.opened_with(tenant, "key_1", first[-1], 2) == sorted(ids)[2:]
    connections.close(ids[1])
    assert connections.opened_with(tenant, "key_1", None, 9) == sorted([ids[0], ids[2]])
    assert connections.opened_with(tenant, "key_unknown", None, 9) == []


def test_a_connection_that_is_closed_ends_all_its_subscriptions(
    store: JobStore, connections: ConnectionStore, tenant: str
) -> None:
    refs = [submitted(store, tenant).ref for _ in range(3)]
    one = opened(connections, tenant)
    for ref in refs:
        connections.subscribe(one, ref, START)
    found = connections.find(one.id)
    assert found is not None
    assert found.jobs == {ref.job_id for ref in refs}
    connections.close(one.id)
    assert [watchers(store, ref) for ref in refs] == [0, 0, 0]


def test_a_claim_goes_on_writing_whoever_comes_to_watch(
    store: JobStore, connections: ConnectionStore, tenant: str
) -> None:
    job = claimed(store, tenant)
    lease = factories.lease(job)
    one = opened(connections, tenant)
    connections.subscribe(one, job.ref, START)
    step = replace(job, progress=10)
    assert store.transition(job, step, lease=lease) == 1
    connections.unsubscribe(one.id, job.ref)
    done = rules.complete(step, {}, START + SECOND)
    assert store.transition(replace(step, watchers=1), done, lease=lease) == 0


@pytest.mark.parametrize("job_id", ["job_unknown", "", "a#b", "x" * 3000, "\ud800"])
def test_only_a_job_of_the_tenant_can_be_subscribed_to(
    store: JobStore, connections: ConnectionStore, tenant: str, job_id: str
) -> None:
    one = opened(connections, tenant)
    with pytest.raises(NotFound):
        connections.subscribe(one, JobRef(tenant=tenant, job_id=job_id), START)
    connections.unsubscribe(one.id, JobRef(tenant=tenant, job_id=job_id))
    foreign = submitted(store, f"{tenant}x")
    with pytest.raises(NotFound):
        connections.subscribe(one, JobRef(tenant=tenant, job_id=foreign.id), START)
    assert watchers(store, foreign.ref) == 0


def test_a_closed_connection_watches_nothing(
    store: JobStore, connections: ConnectionStore, tenant: str
) -> None:
    ref = submitted(store, tenant).ref
    one = opened(connections, tenant)
    connections.close(one.id)
    for each in (one, connection(tenant, "unknown")):
        with pytest.raises(NotFound):
            connections.subscribe(each, ref, START)
        connections.unsubscribe(each.id, ref)
    assert (connections.subscribers(ref), watchers(store, ref)) == ([], 0)


def test_watchers_and_subscriptions_are_bounded(
    store: JobStore, connections: ConnectionStore, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "SUBSCRIBERS_PER_JOB", 2)
    monkeypatch.setattr(limits, "JOBS_PER_CONNECTION", 2)
    refs = [submitted(store, tenant).ref for _ in range(3)]
    ids = [opened(connections, tenant, name) for name in ("one", "two", "three")]
    for each in ids[:2]:
        connections.subscribe(each, refs[0], START)
    with pytest.raises(Conflict):
        connections.subscribe(ids[2], refs[0], START)
    connections.subscribe(ids[0], refs[1], START)
    with pytest.raises(Conflict):
        connections.subscribe(ids[0], refs[2], START)
    assert [watchers(store, ref) for ref in refs] == [2, 1, 0]


def test_what_is_no_job_is_subscribed_to_without_a_count(
    store: JobStore, connections: ConnectionStore, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "SUBSCRIBERS_PER_JOB", 2)
    target = JobRef(tenant=tenant, job_id="t_1")
    job = submitted(store, tenant).ref
    one, two, three = (opened(connections, tenant, name) for name in ("one", "two", "three"))
    for each in (one, one, two):
        connections.subscribe_to_events(each, target, START)
    assert subscribers_of(connections, target) == sorted([one.id, two.id])
    with pytest.raises(Conflict):
        connections.subscribe_to_events(three, target, START)
    with pytest.raises(Conflict):
        connections.subscribe_to_events(three, job, START)
    connections.unsubscribe(one.id, target)
    connections.unsubscribe(one.id, target)
    assert subscribers_of(connections, target) == [two.id]
    connections.subscribe_to_events(three, target, START)
    connections.close(two.id)
    assert subscribers_of(connections, target) == [three.id]
    with pytest.raises(NotFound):
        connections.subscribe_to_events(two, target, START)
    assert watchers(store, job) == 0

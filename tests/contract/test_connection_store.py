"""What every store of WebSocket connections holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spinneret.jobs import rules
from spinneret.jobs.dynamo_connections import DynamoConnectionStore
from spinneret.jobs.models import Connection, JobRef
from spinneret.jobs.ports import ConnectionStore, JobStore
from spinneret.kernel import limits
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


def opened(connections: ConnectionStore, tenant: str, name: str = "one") -> str:
    connection_id = f"{tenant}-{name}="
    connections.open(Connection(id=connection_id, tenant=tenant), START)
    return connection_id


def watchers(store: JobStore, ref: JobRef) -> int:
    job = store.get(ref)
    assert job is not None
    return job.watchers


def test_a_connection_is_found_until_it_is_closed(
    connections: ConnectionStore, tenant: str
) -> None:
    by_ticket = Connection(id=f"{tenant}-t=", tenant=tenant, only_job="job_1")
    connections.open(by_ticket, START)
    assert connections.find(by_ticket.id) == by_ticket
    connections.close(by_ticket.id)
    connections.close(by_ticket.id)
    assert connections.find(by_ticket.id) is None


def test_watchers_are_counted_on_the_job(
    store: JobStore, connections: ConnectionStore, tenant: str
) -> None:
    ref = submitted(store, tenant).ref
    one, two = opened(connections, tenant), opened(connections, tenant, "two")
    for each in (one, one, two):
        connections.subscribe(each, ref, START)
    assert sorted(connections.watching(ref)) == sorted([one, two])
    assert watchers(store, ref) == 2
    connections.unsubscribe(one, ref)
    connections.unsubscribe(one, ref)
    assert (connections.watching(ref), watchers(store, ref)) == ([two], 1)
    connections.close(two)
    assert (connections.watching(ref), watchers(store, ref)) == ([], 0)


def test_a_connection_that_is_closed_ends_all_its_subscriptions(
    store: JobStore, connections: ConnectionStore, tenant: str
) -> None:
    refs = [submitted(store, tenant).ref for _ in range(3)]
    one = opened(connections, tenant)
    for ref in refs:
        connections.subscribe(one, ref, START)
    found = connections.find(one)
    assert found is not None
    assert found.jobs == {ref.job_id for ref in refs}
    connections.close(one)
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
    connections.unsubscribe(one, job.ref)
    done = rules.complete(step, {}, START + SECOND)
    assert store.transition(replace(step, watchers=1), done, lease=lease) == 0


@pytest.mark.parametrize("job_id", ["job_unknown", "", "a#b", "x" * 3000])
def test_only_a_job_of_the_tenant_can_be_watched(
    store: JobStore, connections: ConnectionStore, tenant: str, job_id: str
) -> None:
    one = opened(connections, tenant)
    with pytest.raises(NotFound):
        connections.subscribe(one, JobRef(tenant=tenant, job_id=job_id), START)
    foreign = submitted(store, f"{tenant}x")
    with pytest.raises(NotFound):
        connections.subscribe(one, JobRef(tenant=tenant, job_id=foreign.id), START)
    assert watchers(store, foreign.ref) == 0


def test_a_closed_connection_watches_nothing(
    store: JobStore, connections: ConnectionStore, tenant: str
) -> None:
    ref = submitted(store, tenant).ref
    with pytest.raises(NotFound):
        connections.subscribe(f"{tenant}-none=", ref, START)
    connections.unsubscribe(f"{tenant}-none=", ref)
    assert (connections.watching(ref), watchers(store, ref)) == ([], 0)


def test_watchers_and_subscriptions_are_bounded(
    store: JobStore, connections: ConnectionStore, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "WATCHERS_PER_JOB", 2)
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

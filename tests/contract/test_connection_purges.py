"""Ends of subscriptions, with rows that were deleted before or that are created meanwhile."""

import pytest

from spinneret.jobs import keys
from spinneret.jobs.live.dynamo import DynamoConnectionStore
from spinneret.jobs.models import Connection
from spinneret.jobs.ports import JobStore
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, DependencyUnavailable, NotFound
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.contract.interleaved import interrupted
from tests.contract.stored_jobs import submitted
from tests.fakes.time import START

pytestmark = OF_REAL_AWS


@pytest.mark.parametrize("gone", ["job", "connection"])
def test_the_end_of_a_subscription_brings_back_no_row_that_is_gone(
    tables: Tables, store: JobStore, tenant: str, gone: str
) -> None:
    connections = connections_of(tables)
    ref = submitted(store, tenant).ref
    one = Connection(id=f"{tenant}-one=", tenant=tenant, key_id="key_1")
    connections.open(one, START)
    connections.subscribe(one, ref, START)
    place = keys.job_key(ref) if gone == "job" else keys.connection_key(one.id)
    tables.client.delete_item(TableName=tables.names["Jobs"], Key=place)
    connections.unsubscribe(one.id, ref)
    found = tables.client.get_item(TableName=tables.names["Jobs"], Key=place)
    assert "Item" not in found


def test_a_connection_that_is_being_closed_subscribes_to_nothing_more(
    tables: Tables, store: JobStore, tenant: str
) -> None:
    def subscribe() -> None:
        for ref in (first, second):
            with pytest.raises(NotFound, match="closed"):
                connections.subscribe(one, ref, START)

    connections = connections_of(tables)
    first, second = (submitted(store, tenant).ref for _ in range(2))
    one = Connection(id=f"{tenant}-one=", tenant=tenant, key_id="key_1")
    connections.open(one, START)
    connections.subscribe(one, first, START)
    connections_of(interrupted(tables, "transact_write_items", subscribe)).close(one.id)
    assert (connections.subscribers(first), connections.subscribers(second)) == ([], [])


@pytest.mark.parametrize("call", ["transact_write_items", "delete_item"])
@pytest.mark.parametrize("before", [1, 2])
def test_an_end_that_was_cut_short_is_done_again(
    tables: Tables, store: JobStore, tenant: str, call: str, before: int
) -> None:
    def die() -> None:
        raise DependencyUnavailable("dynamodb")

    connections = connections_of(tables)
    refs = [submitted(store, tenant).ref for _ in range(2)]
    one = Connection(id=f"{tenant}-one=", tenant=tenant, key_id="key_1")
    connections.open(one, START)
    for ref in refs:
        connections.subscribe(one, ref, START)
    with pytest.raises(DependencyUnavailable):
        connections_of(interrupted(tables, call, die, before=before)).close(one.id)
    assert connections.find(one.id) is None
    connections.close(one.id)
    assert [connections.subscribers(ref) for ref in refs] == [[], []]
    assert connections.opened_with(tenant, "key_1", None, 9) == []


@pytest.mark.heavy
def test_watchers_whose_end_got_lost_take_nobody_s_place(
    tables: Tables, store: JobStore, tenant: str
) -> None:
    connections, ref = connections_of(tables), submitted(store, tenant).ref
    every = [
        Connection(id=f"{tenant}-{number}=", tenant=tenant, key_id="key_1")
        for number in range(bounds.SUBSCRIBERS_PER_JOB + 1)
    ]
    for each in every:
        connections.open(each, START)
    for each in every[:-1]:
        connections.subscribe(each, ref, START)
    with pytest.raises(Conflict):
        connections.subscribe(every[-1], ref, START)
    for each in every[:5]:
        place = keys.subscriber_key(ref, each.id)
        tables.client.delete_item(TableName=tables.names["Jobs"], Key=place)
    connections.subscribe(every[-1], ref, START)
    job = store.get(ref)
    assert job is not None
    assert job.watchers == len(connections.subscribers(ref)) == bounds.SUBSCRIBERS_PER_JOB - 4


def test_a_recount_loses_nobody_who_came_after_it_had_counted(
    tables: Tables, store: JobStore, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "SUBSCRIBERS_PER_JOB", 3)
    connections, ref = connections_of(tables), submitted(store, tenant).ref
    *lost, one, two = (
        Connection(id=f"{tenant}-{number}=", tenant=tenant, key_id="key_1") for number in range(5)
    )
    for each in (*lost, one, two):
        connections.open(each, START)
    for each in lost:
        connections.subscribe(each, ref, START)
        place = keys.subscriber_key(ref, each.id)
        tables.client.delete_item(TableName=tables.names["Jobs"], Key=place)
    overtaken = interrupted(
        tables, "transact_write_items", lambda: connections.subscribe(two, ref, START), before=2
    )
    connections_of(overtaken).subscribe(one, ref, START)
    job = store.get(ref)
    assert job is not None
    assert job.watchers == len(connections.subscribers(ref)) == 2


def connections_of(tables: Tables) -> DynamoConnectionStore:
    return DynamoConnectionStore(tables.client, tables.names["Jobs"])

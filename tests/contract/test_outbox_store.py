"""Contract tests of outbox stores: order of pending events, their sinks, and due times."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from spinneret.aws import dynamo
from spinneret.kernel.clock import epoch_seconds
from spinneret.outbox import items, limits
from spinneret.outbox.dynamo import DynamoOutboxStore, event_write
from spinneret.outbox.models import DomainEvent, PendingEvent, SubjectRef
from spinneret.outbox.ports import OutboxStore, Position
from tests.contract.backends import OF_AWS, OF_REAL_AWS, Tables
from tests.fakes.outbox import FakeOutboxStore
from tests.fakes.time import START

EVER = START + timedelta(days=3650)
GRACE = timedelta(seconds=limits.OUTBOX_GRACE_SECONDS)
JUST = timedelta(microseconds=1)

Write = Callable[[DomainEvent], None]


@pytest.fixture
def outbox(tables: Tables | None) -> tuple[OutboxStore, Write]:
    """Provide an outbox of the backend, and a function that writes an event."""
    if tables is None:
        fake = FakeOutboxStore()
        return fake, fake.write
    table = tables.names["Events"]

    def write(event: DomainEvent) -> None:
        dynamo.transact(tables.client, [event_write(table, event)])

    return DynamoOutboxStore(tables.client, table), write


@pytest.fixture
def store(outbox: tuple[OutboxStore, Write]) -> OutboxStore:
    """Provide an outbox of the backend."""
    return outbox[0]


@pytest.fixture
def write(outbox: tuple[OutboxStore, Write]) -> Write:
    """Provide a function that writes an event."""
    return outbox[1]


@OF_AWS
def test_a_written_event_is_pending_as_it_was_written(
    store: OutboxStore, write: Write, tenant: str
) -> None:
    event = event_of(tenant, data={"rate": 0.1, "text": "Fäden", "none": None}, targets=("a", "b"))
    write(event)
    [pending] = all_pending(store, tenant)
    assert pending == PendingEvent(event=event, due_at=START + GRACE)
    assert pending.event.id == event.id


@OF_AWS
def test_pending_events_come_by_sequence_then_type_and_only_those_of_the_subject(
    store: OutboxStore, write: Write, tenant: str
) -> None:
    for event in (
        event_of(tenant, 10),
        event_of(tenant, 9, type_="b.up"),
        event_of(tenant, 9, type_="a.up"),
        event_of(tenant, 1, subject="other"),
        event_of(f"{tenant}x", 1),
    ):
        write(event)
    found = [(each.event.sequence, each.event.type) for each in all_pending(store, tenant)]
    assert found == [(9, "a.up"), (9, "b.up"), (10, "crawl.completed")]


@OF_AWS
def test_pages_go_through_a_subject_while_its_events_are_closed(
    store: OutboxStore, write: Write, tenant: str
) -> None:
    for number in range(5):
        write(event_of(tenant, number))
    seen: list[int] = []
    after: Position | None = None
    while True:
        page = store.pending(ref_of(tenant), after, 2)
        assert len(page.events) <= 2
        seen += [each.event.sequence for each in page.events]
        for each in page.events:
            store.close(each.event, START)
        after = page.after
        if after is None:
            break
    assert seen == [0, 1, 2, 3, 4]
    assert all_pending(store, tenant) == []


@OF_AWS
def test_sinks_that_took_an_event_add_up_and_the_rest_is_what_was_stored_last(
    store: OutboxStore, write: Write, tenant: str
) -> None:
    """Two processes that relay an event at once don't know of each other's sinks."""
    event = event_of(tenant)
    write(event)
    [fresh] = all_pending(store, tenant)
    one = replace(
        fresh, taken=frozenset({"bus"}), tries=1, failing_since=START, due_at=START + 2 * GRACE
    )
    other = replace(one, taken=frozenset({"webhooks"}), tries=4)
    none = replace(one, taken=frozenset(), tries=2)
    for each in (one, other, none):
        store.postpone(each)
    assert all_pending(store, tenant) == [replace(none, taken=frozenset({"bus", "webhooks"}))]


@OF_AWS
def test_an_event_that_is_handed_on_stays_so_when_another_process_comes_late(
    store: OutboxStore, write: Write, tenant: str
) -> None:
    event = event_of(tenant)
    write(event)
    [pending] = all_pending(store, tenant)
    store.close(event, START)
    store.close(event, START)
    store.postpone(replace(pending, tries=1, failing_since=START, taken=frozenset({"bus"})))
    assert all_pending(store, tenant) == []
    assert not is_woken(store, tenant, EVER)


@OF_AWS
def test_an_event_that_was_never_written_is_not_made_by_a_late_process(
    store: OutboxStore, tenant: str
) -> None:
    event = event_of(tenant)
    store.close(event, START)
    store.postpone(PendingEvent(event=event, due_at=START, failing_since=START))
    assert all_pending(store, tenant) == []


@OF_AWS
def test_an_event_that_is_written_again_is_there_once(
    store: OutboxStore, write: Write, tenant: str
) -> None:
    event = event_of(tenant)
    write(event)
    write(event)
    assert [each.event for each in all_pending(store, tenant)] == [event]


@OF_AWS
def test_an_event_is_woken_from_its_grace_on_then_when_it_is_due_and_never_once_handed_on(
    store: OutboxStore, write: Write, tenant: str
) -> None:
    event = event_of(tenant)
    write(event)
    assert not is_woken(store, tenant, START + GRACE - JUST)
    assert is_woken(store, tenant, START + GRACE)
    [pending] = all_pending(store, tenant)
    due = START + 5 * GRACE
    store.postpone(replace(pending, due_at=due, tries=1, failing_since=START))
    assert not is_woken(store, tenant, due - JUST)
    assert is_woken(store, tenant, due)
    store.close(event, due)
    assert not is_woken(store, tenant, EVER)


@OF_AWS
def test_the_oldest_is_woken_first_and_pages_go_through_a_shard(
    store: OutboxStore, write: Write, tenant: str
) -> None:
    long_ago = START - timedelta(days=3650)  # before the times of any other test
    shard = items.wake_shard(ref_of(tenant))
    offsets = (3, 1, 2, 1, 0)
    for number, offset in enumerate(offsets):
        write(event_of(tenant, number, occurred_at=long_ago + timedelta(seconds=offset)))
    until = long_ago + GRACE + timedelta(seconds=2)
    seen, after = 0, None
    while True:
        page = store.to_wake(shard, until, 2, after)
        assert len(page.subjects) <= 2
        seen += page.subjects.count(ref_of(tenant))
        after = page.after
        if after is None:
            break
    assert seen == 4  # excludes the event that is due later


@OF_REAL_AWS
def test_only_an_event_that_is_handed_on_is_purged(
    tables: Tables, store: OutboxStore, write: Write, tenant: str
) -> None:
    event = event_of(tenant)
    key = items.event_key(event)

    def purge_at() -> Any:
        item = tables.client.get_item(TableName=tables.names["Events"], Key=key)["Item"]
        return item.get("purge_at")

    write(event)
    assert purge_at() is None
    store.close(event, START)
    assert purge_at() == epoch_seconds(START + timedelta(days=30))


@OF_REAL_AWS
def test_a_process_that_comes_late_changes_no_event_that_was_handed_on(
    tables: Tables, store: OutboxStore, write: Write, tenant: str
) -> None:
    event = event_of(tenant)

    def row() -> Any:
        key = items.event_key(event)
        return tables.client.get_item(TableName=tables.names["Events"], Key=key)["Item"]

    write(event)
    [pending] = all_pending(store, tenant)
    store.close(event, START)
    closed = row()
    store.close(event, START + 5 * GRACE)
    store.postpone(replace(pending, tries=1, failing_since=START, taken=frozenset({"bus"})))
    assert row() == closed


def event_of(
    tenant: str,
    sequence: int = 1,
    *,
    subject: str = "job_1",
    type_: str = "crawl.completed",
    occurred_at: datetime = START,
    data: dict[str, Any] | None = None,
    targets: tuple[str, ...] = (),
) -> DomainEvent:
    """Return an event of a subject."""
    return DomainEvent(
        tenant=tenant,
        type=type_,
        subject=subject,
        sequence=sequence,
        occurred_at=occurred_at,
        data=data or {},
        targets=targets,
    )


def ref_of(tenant: str) -> SubjectRef:
    """Return the subject of most events in these tests."""
    return SubjectRef(tenant=tenant, subject="job_1")


def all_pending(store: OutboxStore, tenant: str) -> list[PendingEvent]:
    """Return the subject's pending events."""
    page = store.pending(ref_of(tenant), None, 100)
    assert page.after is None
    return list(page.events)


def is_woken(store: OutboxStore, tenant: str, until: datetime) -> bool:
    """Return whether the index for the sweep contains the subject."""
    shard, after = items.wake_shard(ref_of(tenant)), None
    while True:
        page = store.to_wake(shard, until, 1000, after)
        if ref_of(tenant) in page.subjects:
            return True
        after = page.after
        if after is None:
            return False

"""Rows of the outbox, as stored in all releases."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from spinneret.outbox import items
from spinneret.outbox.models import DomainEvent, PendingEvent
from tests.contract.exact_rows import check_row, through_dynamodb, typed
from tests.fakes.time import START
from tests.rows import each_row

EVENT = DomainEvent(
    tenant="acme",
    type="crawl.completed",
    subject="job_1",
    sequence=3,
    occurred_at=START,
    data={"b": 1.5, "a": "ü"},
)
ROW = {
    "pk": "T#acme#SUBJECT#job_1",
    "sk": "00000000000000000003#crawl.completed",
    "occurred_at": "2026-01-02T12:00:00.000000Z",
    "data": '{"a":"ü","b":1.5}',
    "tries": 0,
    "pending": "00000000000000000003#crawl.completed",
    "wake_shard": "WAKE#4",
    "wake_at": "2026-01-02T12:00:30.000000Z",
}
NEW = PendingEvent(event=EVENT, due_at=START + timedelta(seconds=30))
POSTPONED = replace(
    NEW,
    event=replace(EVENT, targets=("wh_1", "wh_2"), data={}),
    taken=frozenset({"webhooks", "live"}),
    tries=2,
    failing_since=START,
)
POSTPONED_ROW = {
    **ROW,
    "data": "{}",
    "targets": ["wh_1", "wh_2"],
    "taken": {"webhooks", "live"},
    "tries": 2,
    "failing_since": "2026-01-02T12:00:00.000000Z",
}


@each_row(
    [
        ("new", (items.PENDING, NEW, ROW)),
        ("postponed", (items.PENDING, POSTPONED, POSTPONED_ROW)),
    ]
)
def test_rows_are_written_and_read_as_before(row: Any) -> None:
    check_row(*row)


def test_an_event_that_never_failed_has_null_or_nothing_for_its_first_failure() -> None:
    assert typed(items.new_item(EVENT)) == typed(ROW)
    assert items.PENDING.decode(through_dynamodb({**ROW, "failing_since": None})) == NEW

"""Jobs as DynamoDB items, and the ids in their keys."""

from dataclasses import MISSING, fields, replace
from datetime import timedelta

import pytest

from spinneret.jobs import items, keys
from spinneret.jobs.models import Failure, Job, JobStatus, ParentState, Priority
from tests import factories
from tests.fakes.time import START

SECOND = timedelta(seconds=1)

FULL = factories.job(
    status=JobStatus.PARTIALLY_FAILED,
    priority=Priority.LOW,
    run=2,
    fence=3,
    attempts=1,
    max_attempts=5,
    max_redrives=4,
    result_seconds=60,
    updated_at=START + 10 * SECOND,
    redrives=2,
    worked_ms=70,
    claimed_at=START + SECOND,
    sends=2,
    resent_at=START + 9 * SECOND,
    own_faults=6,
    waiting_since=START + 2 * SECOND,
    waiting_for="site.example",
    deferred_since=START + 3 * SECOND,
    expires_at=START + 4 * SECOND,
    ending=True,
    locked_by="owner",
    locked_until=START + 5 * SECOND,
    started_at=START + 6 * SECOND,
    finished_at=START + 7 * SECOND,
    progress=50,
    step="fetching",
    result={"n": 0.1, "none": None},
    last_error=Failure(code="X", message="m", type="transient", details={"status_code": 503}),
    domain="site.example",
    batch="batch_1",
    created_by="u_1",
    parent="job_0",
    parent_shard=3,
    parent_run=4,
    rests_unchecked=True,
    family=ParentState(shards=2, cursor="0:20", settled=True, plan_rows=2, retried_in=3),
    duplicate_key="same-page",
    idempotency_key="order-1",
    notify=("hook",),
    amendments=2,
    watchers=8,
)


# covers P-01
def test_every_field_of_a_job_is_stored() -> None:
    untouched = [
        each.name
        for each in fields(Job)
        if each.default is not MISSING and getattr(FULL, each.name) == each.default
    ]
    assert untouched == [], "give it a value above"
    assert items.JOBS.decode(items.JOBS.encode(FULL)) == FULL


@pytest.mark.parametrize(
    ("fence", "number"), [(0, 0), (1, 1), (99_999_999, 999_999)], ids=["first", "usual", "last"]
)
def test_the_id_of_an_event_is_one(fence: int, number: int) -> None:
    event = factories.event(fence, number)
    assert keys.is_event_id(event.id)
    [stored] = items.event_items(FULL.ref, [replace(event, data={"a": 1})])
    assert [each.id for each in items.events_from_item(stored)] == [event.id]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "~~",
        "é",
        "1-1",
        "00000001-000001 ",
        "00000001-000001\n",
        "00000001_000001",
        "000000001-000001",
        "\u0660" * 8 + "-" + "\u0660" * 6,
        "0" * 2000,
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert not keys.is_event_id(text)

"""Requests of the job kernel's adapters to AWS: consistent reads, and purge times of rows."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from spinneret.jobs import limits, rules
from spinneret.jobs.effects.dynamo import DynamoEffectStore
from spinneret.jobs.keys import job_key
from spinneret.jobs.live.dynamo import DynamoConnectionStore
from spinneret.jobs.models import Connection, Job, JobFilter, JobRef, JobStatus
from spinneret.jobs.ports import Claimed, Holder, JobStore, NewJob, Reopening
from spinneret.kernel import bounds
from spinneret.kernel.errors import NotFound
from tests import factories
from tests.contract.backends import OF_REAL_AWS, Tables
from tests.contract.cut_answers import whole_scans
from tests.contract.stored_jobs import SECOND, UNTIL, claimed, new_job, submit, submitted
from tests.fakes.time import START

pytestmark = OF_REAL_AWS

READS = ("GetItem", "BatchGetItem", "Query")


@pytest.fixture
def reads(tables: Tables) -> Iterator[list[tuple[str, Any]]]:
    """Provide a list of reads, by name and consistency; index queries can't be consistent."""
    seen: list[tuple[str, Any]] = []

    def look(params: dict[str, Any], model: Any, **_: Any) -> None:
        if model.name == "BatchGetItem":
            [request] = params["RequestItems"].values()
            seen.append((model.name, request.get("ConsistentRead", False)))
        elif "IndexName" not in params:
            seen.append((model.name, params.get("ConsistentRead", False)))

    events = tables.client.meta.events
    for name in READS:
        events.register(f"before-parameter-build.dynamodb.{name}", look)
    yield seen
    for name in READS:
        events.unregister(f"before-parameter-build.dynamodb.{name}", look)


def test_jobs_keys_and_timelines_are_read_consistently(
    store: JobStore, tenant: str, reads: list[tuple[str, Any]]
) -> None:
    """Submissions, retries and long polls make decisions from what they read."""
    job = submitted(store, tenant, duplicate_key="same")
    assert store.get(job.ref) == job
    assert store.find_duplicates(tenant, ["same"]) == {"same": job.id}
    assert store.find_reply(factories.request_key(tenant=tenant), START) is None
    assert len(store.events(job.ref, None, 9)) == 1
    assert store.page(tenant, JobFilter(), None, 9).items == (job,)
    assert [name for name, _ in reads] == [
        "GetItem",
        "BatchGetItem",
        "BatchGetItem",
        "Query",
        "BatchGetItem",
    ]
    assert all(consistent for _, consistent in reads)


def test_connections_are_read_consistently(
    store: JobStore, tables: Tables, tenant: str, reads: list[tuple[str, Any]]
) -> None:
    connections = DynamoConnectionStore(tables.client, tables.names["Jobs"])
    connections.open(Connection(id="one", tenant=tenant, key_id="key_1"), START)
    connections.find("one")
    connections.subscribers(submitted(store, tenant).ref)
    connections.opened_with(tenant, "key_1", None, 9)
    assert [name for name, _ in reads] == ["GetItem", "Query", "Query"]
    assert all(consistent for _, consistent in reads)


# covers P-06, P-14
def test_rows_are_purged_when_their_time_is_over_and_not_before(
    store: JobStore, tables: Tables, tenant: str
) -> None:
    """TTL deletes rows whose purge time has passed; a job has one only after its end."""
    key = factories.request_key(tenant=tenant)
    job = new_job(tenant, duplicate_key="same")
    store.submit([NewJob(job=job)], [factories.event()], key, factories.reply(), START)
    running = claimed(store, tenant)
    effects = DynamoEffectStore(tables.client, tables.names["Jobs"], tables.names["Idempotency"])
    effects.begin(factories.lease(running), "listing", "as it is", START, START)
    effects.finish(factories.lease(running), "listing", {}, START + SECOND)
    end = START + 2 * SECOND
    store.transition(running, rules.complete(running, {}, end))
    expected = {
        "JOB, pending": None,
        "JOB, completed": end + timedelta(seconds=bounds.JOB_RETENTION_SECONDS),
        "EVENT": factories.event().created_at + timedelta(seconds=limits.EVENT_RETENTION_SECONDS),
        "REQUEST": START + timedelta(seconds=bounds.IDEMPOTENCY_SECONDS),
        "SAME": START + _SPARE + _KEPT + _MARGIN,
        "EFFECT": START + SECOND + timedelta(seconds=bounds.EFFECT_RETENTION_SECONDS),
    }
    assert purges(tables, tenant) == expected


def test_an_effect_that_is_only_begun_is_kept_as_long(
    store: JobStore, tables: Tables, tenant: str
) -> None:
    running = claimed(store, tenant)
    effects = DynamoEffectStore(tables.client, tables.names["Jobs"], tables.names["Idempotency"])
    effects.begin(factories.lease(running), "listing", "as it is", START, START)
    kept = START + timedelta(seconds=bounds.EFFECT_RETENTION_SECONDS)
    assert purges(tables, tenant)["EFFECT"] == kept


def test_a_duplicate_key_lives_as_long_as_its_job(
    store: JobStore, tables: Tables, tenant: str
) -> None:
    """It is kept while the job works or is paused, for a time after each end, and after a retry."""
    running = claimed(store, tenant, duplicate_key="same")
    assert purges(tables, tenant)["SAME"] == START + _SPARE + _KEPT + _MARGIN
    late = START + timedelta(days=40)
    failed = rules.after_error(running, NotFound("gone"), late, 0.5)
    store.transition(running, failed)
    assert purges(tables, tenant)["SAME"] == late + _KEPT + _MARGIN
    again = rules.retry(failed, late)
    holder = Holder(job_id=failed.id, job=failed)
    store.begin_run(failed, again, rules.status_event(again, late), holder)
    assert purges(tables, tenant)["SAME"] is None
    paused = rules.pause(again, late)
    store.transition(again, paused)
    assert purges(tables, tenant)["SAME"] is None
    later = late + timedelta(days=40)
    store.transition(paused, rules.cancel(paused, later))
    assert purges(tables, tenant)["SAME"] == later + _KEPT + _MARGIN


@pytest.mark.parametrize("days", [0, 13.9, 14.1, 60])
@pytest.mark.parametrize("pauses", [False, True])
def test_a_duplicate_key_outlives_its_job_whenever_it_ends(
    store: JobStore, tables: Tables, tenant: str, days: float, pauses: bool
) -> None:
    """A claim doesn't change a TTL, so the test also claims a job whose key has none anymore."""
    job = submitted(store, tenant, duplicate_key="same")
    if pauses:
        paused = rules.pause(job, START)
        store.transition(job, paused)
        assert purges(tables, tenant)["SAME"] is None
        job = rules.resume(paused, START)
        store.transition(paused, job)
    now = START + timedelta(days=days)
    for _ in range(2):
        outcome = store.claim(job.ref, "one", now, now + SECOND)
        assert isinstance(outcome, Claimed)
        job = rules.hand_back(outcome.job, now)
        store.transition(outcome.job, job, lease=outcome.lease)
    kept = START + _SPARE + _KEPT + _MARGIN
    assert purges(tables, tenant)["SAME"] == (kept if days < 14 else None)
    outcome = store.claim(job.ref, "one", now, now + SECOND)
    assert isinstance(outcome, Claimed)
    store.transition(outcome.job, rules.complete(outcome.job, {}, now), lease=outcome.lease)
    assert purges(tables, tenant)["SAME"] == max(kept, now + _KEPT + _MARGIN)


def test_a_reopened_parent_keeps_its_duplicate_key(
    store: JobStore, tables: Tables, tenant: str
) -> None:
    parent = new_job(tenant, family=rules.new_family(1), duplicate_key="same")
    store.submit([NewJob(job=parent)], [factories.event()], None, factories.reply(), START)
    outcome = store.claim(parent.ref, "one", START, UNTIL)
    assert isinstance(outcome, Claimed)
    child = rules.as_child(new_job(tenant), outcome.job)
    ready = rules.await_children(outcome.job, START)
    store.add_children(
        outcome.job, ready, [NewJob(job=child)], [factories.event()], lease=outcome.lease
    )
    failed = _failed(store, child)
    ended = _ended_at(store, ready, START)
    assert purges(tables, tenant)["SAME"] == START + _SPARE + _KEPT + _MARGIN
    again, reopened = rules.retry(failed, START), rules.reopened(ended, START)
    event = rules.status_event(reopened, START, reason="X")
    move = Reopening(before=ended, after=reopened, event=event)
    store.begin_run(failed, again, rules.status_event(again, START), None, move)
    assert purges(tables, tenant)["SAME"] == START + _SPARE + _KEPT + _MARGIN
    late = START + timedelta(days=40)
    store.transition(reopened, rules.schedule_recheck(reopened, late))
    assert purges(tables, tenant)["SAME"] is None


def test_all_rows_of_a_parent_live_as_long_as_it_does(
    store: JobStore, tables: Tables, tenant: str
) -> None:
    """They are kept while the parent works, for a time after each end, and once it is reopened."""
    family = replace(rules.new_family(300), plan_rows=2)
    made = new_job(tenant, family=family)
    founded = NewJob(job=made, plan=["one", "two"])
    store.submit([founded], [factories.event()], None, factories.reply(), START)
    outcome = store.claim(made.ref, "one", START, UNTIL)
    assert isinstance(outcome, Claimed)
    born = [rules.as_child(new_job(tenant), outcome.job) for _ in range(3)]
    ready = replace(outcome.job, family=replace(family, cursor=None))
    news, events = [NewJob(job=job) for job in born], [factories.event()] * len(born)
    store.add_children(outcome.job, ready, news, events, lease=outcome.lease)
    waiting = rules.await_children(ready, START)
    store.transition(ready, waiting, lease=outcome.lease)
    assert _lives(tables, made) == {None, START + _SPARE + _KEPT + _MARGIN}

    late = START + timedelta(days=40)
    failed = [_failed(store, child) for child in born]
    ended = _ended_at(store, waiting, late)
    assert _lives(tables, made) == {late + _KEPT, late + _KEPT + _MARGIN}

    [again, reopened] = rules.retry(failed[0], late), rules.reopened(ended, late)
    move = Reopening(
        before=ended, after=reopened, event=rules.status_event(reopened, late, reason="X")
    )
    store.begin_run(failed[0], again, rules.status_event(again, late), None, move)
    assert _lives(tables, made) == {None}

    later = late + timedelta(days=40)
    _failed(store, again)
    ended = _ended_at(store, reopened, later)
    assert _lives(tables, made) == {later + _KEPT, later + _KEPT + _MARGIN}

    retried = rules.retry(ended, later)
    store.begin_run(ended, retried, rules.status_event(retried, later), None)
    assert _lives(tables, made) == {None}
    store.transition(retried, rules.cancel(retried, later))
    assert _lives(tables, made) == {later + _KEPT, later + _KEPT + _MARGIN}


def test_a_child_whose_parent_was_purged_ends_and_begins_again_by_itself(
    store: JobStore, tables: Tables, tenant: str
) -> None:
    parent = new_job(tenant, family=rules.new_family(1))
    child = rules.as_child(new_job(tenant), parent)
    store.submit([NewJob(job=child)], [factories.event()], None, factories.reply(), START)
    failed = _failed(store, child)
    again = rules.retry(failed, START)
    store.begin_run(failed, again, rules.status_event(again, START), None)
    assert store.get(child.ref) == again
    assert _failed(store, again).status is JobStatus.FAILED


def test_children_of_earlier_versions_are_found_by_their_status(
    store: JobStore, tables: Tables, tenant: str
) -> None:
    """Like the rows of live children, their rows have no `list_status`."""
    parent = new_job(tenant, family=rules.new_family(3))
    live, failed, paused = (rules.as_child(new_job(tenant), parent) for _ in range(3))
    failed = replace(failed, status=JobStatus.FAILED, finished_at=START)
    paused = replace(paused, status=JobStatus.PAUSED)
    submit(store, live, failed, paused)
    for _ in range(2):
        for child in (live, failed, paused):
            assert _children(store, parent, child.status) == {child.ref}
        alive = (JobStatus.PENDING, JobStatus.RUNNING, JobStatus.PAUSED)
        assert {live.ref, paused.ref} <= _children(store, parent, *alive)
        for child in (failed, paused):
            tables.client.update_item(
                TableName=tables.names["Jobs"],
                Key=job_key(child.ref),
                UpdateExpression="REMOVE list_status",
            )


def _children(store: JobStore, parent: Job, *statuses: JobStatus) -> set[JobRef]:
    found, page = set[JobRef](), store.children(parent.ref, statuses, None, 10)
    while page.after is not None:
        found |= {*page.items}
        page = store.children(parent.ref, statuses, page.after, 10)
    return found | {*page.items}


def _failed(store: JobStore, child: Job) -> Job:
    outcome = store.claim(child.ref, "child's", START + timedelta(days=99), UNTIL)
    assert isinstance(outcome, Claimed)
    failed = rules.after_error(outcome.job, NotFound("gone"), START, 0.5)
    store.transition(outcome.job, failed, lease=outcome.lease)
    return failed


def _ended_at(store: JobStore, waiting: Job, moment: datetime) -> Job:
    assert waiting.family is not None
    counted = store.child_counts(waiting.ref, range(waiting.family.shards))
    ended = rules.end_of(waiting, rules.total(counted), moment)
    store.transition(waiting, ended, counted=counted)
    return ended


def _lives(tables: Tables, parent: Job) -> set[datetime | None]:
    """Return the purge times of the parent's row, its plan and its counters."""
    found = [
        _moment(row)
        for row in _rows(tables, "Jobs")
        if parent.id in row["pk"] and row["sk"].startswith(("JOB", "PLAN", "COUNTER"))
    ]
    assert len(found) == 5
    return set(found)


_KEPT = timedelta(seconds=bounds.JOB_RETENTION_SECONDS)
_MARGIN = timedelta(seconds=limits.OUTLIVES_ROW_SECONDS)
_SPARE = timedelta(seconds=limits.ROWS_SPARE_SECONDS)


def test_connections_are_purged_after_the_longest_that_one_lasts(
    store: JobStore, tables: Tables, tenant: str
) -> None:
    connections = DynamoConnectionStore(tables.client, tables.names["Jobs"])
    one = Connection(id=f"one-{tenant}", tenant=tenant, key_id="key_1")
    connections.open(one, START)
    connections.subscribe(one, submitted(store, tenant).ref, START)
    kept = START + timedelta(seconds=bounds.CONNECTION_SECONDS)
    rows = [row for row in _rows(tables, "Jobs") if one.id in f"{row['pk']}{row['sk']}"]
    assert [_moment(row) for row in rows] == [kept] * 3


def purges(tables: Tables, tenant: str) -> dict[str, datetime | None]:
    """Return the purge time of each kind of row."""
    found = {}
    for table in ("Jobs", "Idempotency"):
        for row in _rows(tables, table):
            if f"T#{tenant}#" not in row["pk"]:
                continue
            kind = row.get("sk", row["pk"].split("#")[2]).split("#")[0]
            name = f"{kind}, {row['status']}" if kind == "JOB" else kind
            found[name] = _moment(row)
    return found


def _rows(tables: Tables, table: str) -> list[dict[str, Any]]:
    pages = tables.client.get_paginator("scan")
    with whole_scans(tables.client):
        found = pages.paginate(TableName=tables.names[table], ConsistentRead=True)
        return [row for page in found for row in page["Items"]]


def _moment(row: dict[str, Any]) -> datetime | None:
    if "purge_at" not in row:
        return None
    return datetime.fromtimestamp(int(row["purge_at"]), START.tzinfo)

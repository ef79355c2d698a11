"""Rows of jobs, their events and their WebSocket connections, as stored."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from spinneret.jobs.items import JOBS, event_items, events_from_item
from spinneret.jobs.live.items import CONNECTIONS, SUBSCRIBERS, connection_item, subscriber_item
from spinneret.jobs.models import (
    Connection,
    Failure,
    Job,
    JobEvent,
    JobEventKind,
    JobStatus,
    ParentState,
    Priority,
    Subscriber,
)
from tests.contract.exact_rows import Functions, check_read, check_row
from tests.rows import each_row

NOW: Final = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
LATER: Final = datetime(2026, 1, 2, 4, 4, 5, tzinfo=UTC)

PENDING: Final = Job(
    tenant="acme",
    id="job_1",
    kind="page.crawl",
    status=JobStatus.PENDING,
    priority=Priority.NORMAL,
    payload={"url": "https://ä.example/", "rate": 0.5, "depth": None},
    created_at=NOW,
    updated_at=NOW,
    due_at=NOW,
)
RUNNING: Final = replace(
    PENDING,
    status=JobStatus.RUNNING,
    run=2,
    fence=3,
    attempts=1,
    max_attempts=4,
    result_seconds=60,
    max_redrives=2,
    redrives=1,
    worked_ms=5,
    claimed_at=NOW,
    sends=0,
    resent_at=NOW,
    own_faults=6,
    waiting_since=NOW,
    waiting_for="a.example",
    deferred_since=NOW,
    expires_at=LATER,
    ending=True,
    locked_by="worker",
    locked_until=LATER,
    started_at=NOW,
    progress=10,
    step="fetch",
    result={"document_id": "doc_1"},
    last_error=Failure(code="X", message="m", type="transient", details={"codes": [503]}),
    domain="a.example",
    batch="job_0",
    created_by="key_1",
    parent="job_0",
    parent_shard=2,
    family=ParentState(shards=2, cursor=None, settled=True, cancelled_to="x"),
    duplicate_key="d",
    idempotency_key="e",
    notify=("hook_1", "hook_2"),
    watchers=3,
)
FAILED: Final = replace(
    RUNNING,
    status=JobStatus.FAILED,
    locked_by=None,
    locked_until=None,
    finished_at=LATER,
    parent_shard=0,
)
EVENT: Final = JobEvent(
    fence=3, number=4, kind=JobEventKind.WARNING, message="ö", created_at=NOW, progress=5
)
EVENTS: Final = Functions(
    lambda event: event_items(PENDING.ref, [event])[0], lambda row: events_from_item(row)[0]
)

OPEN: Final = Connection(id="c1=", tenant="acme", key_id="key_1")
OF_TICKET: Final = replace(OPEN, ends_at=LATER, only_job="job_1")
OPENED: Final = Functions(partial(connection_item, now=NOW), CONNECTIONS.decode)
SUBSCRIBED: Final = Functions(
    lambda subscriber: subscriber_item(PENDING.ref, replace(OPEN, ends_at=subscriber.ends_at), NOW),
    SUBSCRIBERS.decode,
)


@each_row(
    [
        (
            "a new job",
            (
                JOBS,
                PENDING,
                {
                    "pk": "T#acme#JOB#job_1",
                    "sk": "JOB",
                    "kind": "page.crawl",
                    "status": "pending",
                    "priority": "normal",
                    "payload": '{"url":"https://ä.example/","rate":0.5,"depth":null}',
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "updated_at": "2026-01-02T03:04:05.678901Z",
                    "due_at": "2026-01-02T03:04:05.678901Z",
                    "run": 1,
                    "fence": 0,
                    "attempts": 0,
                    "max_attempts": 3,
                    "result_seconds": 86400,
                    "sends": 1,
                    "progress": 0,
                    "watchers": 0,
                    "parent_run": 1,
                    "list_key": "T#acme#JOBS",
                    "list_id": "job_1",
                    "resend_shard": "RESEND#page.crawl#normal#0",
                    "resend_at": "2026-01-02T03:04:35.678901Z",
                },
            ),
        ),
        (
            "a claimed child",
            (
                JOBS,
                RUNNING,
                {
                    "pk": "T#acme#JOB#job_1",
                    "sk": "JOB",
                    "kind": "page.crawl",
                    "status": "running",
                    "priority": "normal",
                    "payload": '{"url":"https://ä.example/","rate":0.5,"depth":null}',
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "updated_at": "2026-01-02T03:04:05.678901Z",
                    "due_at": "2026-01-02T03:04:05.678901Z",
                    "run": 2,
                    "fence": 3,
                    "attempts": 1,
                    "max_attempts": 4,
                    "result_seconds": 60,
                    "redrives": 1,
                    "max_redrives": 2,
                    "worked_ms": 5,
                    "claimed_at": "2026-01-02T03:04:05.678901Z",
                    "sends": 0,
                    "resent_at": "2026-01-02T03:04:05.678901Z",
                    "own_faults": 6,
                    "waiting_since": "2026-01-02T03:04:05.678901Z",
                    "waiting_for": "a.example",
                    "deferred_since": "2026-01-02T03:04:05.678901Z",
                    "expires_at": "2026-01-02T04:04:05.000000Z",
                    "ending": True,
                    "locked_by": "worker",
                    "locked_until": "2026-01-02T04:04:05.000000Z",
                    "started_at": "2026-01-02T03:04:05.678901Z",
                    "progress": 10,
                    "step": "fetch",
                    "result": '{"document_id":"doc_1"}',
                    "last_error": (
                        '{"code":"X","message":"m","type":"transient","details":{"codes":[503]}}'
                    ),
                    "domain": "a.example",
                    "batch": "job_0",
                    "created_by": "key_1",
                    "parent": "job_0",
                    "parent_shard": 2,
                    "parent_run": 1,
                    "family": (
                        '{"shards":2,"cursor":null,"settled":true,"cancelled_to":"x",'
                        '"plan_rows":0,"retried_in":1}'
                    ),
                    "duplicate_key": "d",
                    "idempotency_key": "e",
                    "watchers": 3,
                    "notify": ["hook_1", "hook_2"],
                    "list_key": "T#acme#JOBS",
                    "list_id": "job_1",
                    "parent_key": "T#acme#JOB#job_0#CHILDREN",
                    "wake_shard": "WAKE#0",
                    "wake_at": "2026-01-02T04:04:05.000000Z",
                },
            ),
        ),
        (
            "a failed child",
            (
                JOBS,
                FAILED,
                {
                    "pk": "T#acme#JOB#job_1",
                    "sk": "JOB",
                    "kind": "page.crawl",
                    "status": "failed",
                    "priority": "normal",
                    "payload": '{"url":"https://ä.example/","rate":0.5,"depth":null}',
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "updated_at": "2026-01-02T03:04:05.678901Z",
                    "due_at": "2026-01-02T03:04:05.678901Z",
                    "run": 2,
                    "fence": 3,
                    "attempts": 1,
                    "max_attempts": 4,
                    "result_seconds": 60,
                    "redrives": 1,
                    "max_redrives": 2,
                    "worked_ms": 5,
                    "claimed_at": "2026-01-02T03:04:05.678901Z",
                    "sends": 0,
                    "resent_at": "2026-01-02T03:04:05.678901Z",
                    "own_faults": 6,
                    "waiting_since": "2026-01-02T03:04:05.678901Z",
                    "waiting_for": "a.example",
                    "deferred_since": "2026-01-02T03:04:05.678901Z",
                    "expires_at": "2026-01-02T04:04:05.000000Z",
                    "ending": True,
                    "started_at": "2026-01-02T03:04:05.678901Z",
                    "finished_at": "2026-01-02T04:04:05.000000Z",
                    "progress": 10,
                    "step": "fetch",
                    "result": '{"document_id":"doc_1"}',
                    "last_error": (
                        '{"code":"X","message":"m","type":"transient","details":{"codes":[503]}}'
                    ),
                    "domain": "a.example",
                    "batch": "job_0",
                    "created_by": "key_1",
                    "parent": "job_0",
                    "parent_shard": 0,
                    "parent_run": 1,
                    "family": (
                        '{"shards":2,"cursor":null,"settled":true,"cancelled_to":"x",'
                        '"plan_rows":0,"retried_in":1}'
                    ),
                    "duplicate_key": "d",
                    "idempotency_key": "e",
                    "watchers": 3,
                    "notify": ["hook_1", "hook_2"],
                    "list_key": "T#acme#JOBS",
                    "list_id": "job_1",
                    "parent_key": "T#acme#JOB#job_0#CHILDREN",
                    "list_status": "failed",
                    "trouble_key": "T#acme#TROUBLED",
                    "purge_at": 1769918645,
                },
            ),
        ),
        (
            "an event",
            (
                EVENTS,
                EVENT,
                {
                    "pk": "T#acme#JOB#job_1",
                    "sk": "EVENT#00000003-000004",
                    "events": '[[4,"warning","ö","2026-01-02T03:04:05.678901Z",5]]',
                    "purge_at": 1769915045,
                },
            ),
        ),
        (
            "an event with data",
            (
                EVENTS,
                replace(EVENT, data={"n": 1.5, "none": None}),
                {
                    "pk": "T#acme#JOB#job_1",
                    "sk": "EVENT#00000003-000004",
                    "events": (
                        '[[4,"warning","ö","2026-01-02T03:04:05.678901Z",5,{"n":1.5,"none":null}]]'
                    ),
                    "purge_at": 1769915045,
                },
            ),
        ),
        (
            "a connection",
            (
                OPENED,
                OPEN,
                {
                    "pk": "CONN#c1=",
                    "sk": "CONN",
                    "tenant": "acme",
                    "key_id": "key_1",
                    "purge_at": 1767333845,
                },
            ),
        ),
        (
            "a connection of a ticket",
            (
                OPENED,
                OF_TICKET,
                {
                    "pk": "CONN#c1=",
                    "sk": "CONN",
                    "tenant": "acme",
                    "key_id": "key_1",
                    "ends_at": "2026-01-02T04:04:05.000000Z",
                    "only_job": "job_1",
                    "purge_at": 1767333845,
                },
            ),
        ),
        (
            "a subscriber",
            (
                SUBSCRIBED,
                Subscriber(connection_id="c1=", ends_at=None),
                {
                    "pk": "T#acme#JOB#job_1",
                    "sk": "SUBSCRIBER#c1=",
                    "purge_at": 1767333845,
                },
            ),
        ),
        (
            "a subscriber until a time",
            (
                SUBSCRIBED,
                Subscriber(connection_id="c1=", ends_at=LATER),
                {
                    "pk": "T#acme#JOB#job_1",
                    "sk": "SUBSCRIBER#c1=",
                    "purge_at": 1767333845,
                    "ends_at": "2026-01-02T04:04:05.000000Z",
                },
            ),
        ),
    ]
)
def test_rows_are_written_and_read_as_before(row: Any) -> None:
    check_row(*row)


@each_row(
    [
        (
            "a connection with subscriptions",
            (
                OPENED,
                replace(OPEN, jobs=frozenset({"job_1"})),
                {
                    "pk": "CONN#c1=",
                    "sk": "CONN",
                    "tenant": "acme",
                    "key_id": "key_1",
                    "purge_at": 1767333845,
                    "jobs": {"job_1"},
                },
            ),
        ),
        (
            "a connection without a key",
            (
                OPENED,
                replace(OPEN, key_id=""),
                {
                    "pk": "CONN#c1=",
                    "sk": "CONN",
                    "tenant": "acme",
                    "purge_at": 1767333845,
                },
            ),
        ),
        (
            "an event in a row of its own",
            (
                EVENTS,
                replace(EVENT, data={"n": 1.5, "none": None}),
                {
                    "pk": "T#acme#JOB#job_1",
                    "sk": "EVENT#00000003-000004",
                    "kind": "warning",
                    "message": "ö",
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "progress": 5,
                    "data": '{"n":1.5,"none":null}',
                    "purge_at": 1769915045,
                },
            ),
        ),
        (
            "a new job with its zeros, and with both keys of its work",
            (
                JOBS,
                replace(PENDING, duplicate_key="d", idempotency_key="d"),
                {
                    **JOBS.encode(PENDING),
                    "redrives": 0,
                    "max_redrives": 0,
                    "worked_ms": 0,
                    "own_faults": 0,
                    "duplicate_key": "d",
                    "idempotency_key": "d",
                },
            ),
        ),
        (
            "a child before parents had runs",
            (
                JOBS,
                FAILED,
                {
                    **{
                        name: value
                        for name, value in JOBS.encode(FAILED).items()
                        if name != "parent_run"
                    },
                    "family": '{"shards":2,"cursor":null,"settled":true,"cancelled_to":"x"}',
                },
            ),
        ),
    ]
)
def test_rows_after_updates_and_of_earlier_releases_are_read(row: Any) -> None:
    check_read(*row)

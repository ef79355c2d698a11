"""Ends of jobs: the events that report them, and their relay after the write."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.ends import REPORTED, end_event, end_of, measuring, relaying
from spinneret.jobs.kinds import all_kinds
from spinneret.jobs.models import Job, JobEventKind, JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.canonical import canonical_json
from spinneret.kernel.errors import HttpRefused
from spinneret.outbox.types import all_event_types
from tests import factories
from tests.fakes.time import START, HandClock
from tests.kinds import KINDS
from tests.metrics import recorded
from tests.unit.jobs.worker_world import WorkerWorld, succeed


def running(**given: object) -> Job:
    return factories.running_job(START, started_at=START, **given)


def test_an_end_is_told_by_its_kind_and_status_under_the_fence_of_its_run() -> None:
    job = running(notify=("https://own.example/hook",), domain="site.example")
    event = end_event(job, rules.complete(job, {"n": 1}, START), KINDS)
    assert event is not None
    assert (event.type, event.subject, event.sequence) == ("crawl.completed", job.id, job.fence)
    assert (event.tenant, event.occurred_at) == (job.tenant, START)
    assert event.targets == ("https://own.example/hook",)
    assert event.data["result"] == {"n": 1}


def test_a_failure_and_an_expiry_are_reported_with_their_errors() -> None:
    job = running()
    failed = end_event(job, rules.after_error(job, HttpRefused("no"), START, 0.5), KINDS)
    pending = factories.job()
    expired = end_event(pending, rules.expire(pending, START), KINDS)
    assert failed is not None
    assert expired is not None
    assert (failed.type, failed.data["error"]["code"]) == ("crawl.failed", "HTTP_ERROR")
    assert (expired.type, expired.data["error"]["code"]) == ("crawl.expired", "EXPIRED")


def test_what_ends_no_run_reports_nothing() -> None:
    job = running()
    waiting = rules.hand_back(job, START)
    done = rules.complete(job, {}, START)
    cancelled = rules.cancel(job, START)
    delivery = running(kind="delivery")
    for before, after in (
        (job, replace(job, progress=50)),
        (job, waiting),
        (job, cancelled),
        (done, replace(done, watchers=1)),
        (delivery, rules.complete(delivery, {}, START)),
        (replace(job, kind="unknown"), replace(done, kind="unknown")),
        (replace(job, parent="job_0"), replace(done, parent="job_0")),
    ):
        assert end_event(before, after, KINDS) is None


def test_a_result_that_an_event_can_not_hold_is_left_out() -> None:
    job = running()
    for size, kept in ((60_000, "result"), (100_000, "truncated")):
        event = end_event(job, rules.complete(job, {"text": "x" * size}, START), KINDS)
        assert event is not None
        assert {"result", "truncated"} & event.data.keys() == {kept}
        assert len(canonical_json(event.data)) <= bounds.OUTBOX_DATA_BYTES


# covers P-12
@pytest.mark.parametrize(
    ("kind", "error", "counted"),
    [
        (
            "crawl",
            None,
            {"crawls_total": [1], "crawls_succeeded": [1], "crawl_duration_ms": [1500]},
        ),
        ("crawl", HttpRefused("no"), {"crawls_total": [1], "crawls_failed": [1]}),
        ("delivery", None, {"webhooks_delivered": [1]}),
        ("delivery", HttpRefused("no"), {"webhooks_failed": [1]}),
        ("audit", None, {}),
    ],
)
def test_an_end_is_counted_once(
    kind: str, error: Exception | None, counted: dict[str, list[float]]
) -> None:
    job, later = running(kind=kind), START + timedelta(seconds=1.5)
    failed = None if error is None else rules.after_error(job, error, later, 0.5)
    after = failed or rules.complete(job, {}, later)
    recorded()
    count = measuring(all_kinds())
    count(job, [rules.status_event(job, later)])  # the claim
    count(after, [rules.status_event(after, later)])
    count(after, [replace(rules.status_event(after, later), kind=JobEventKind.STEP_STARTED)])
    assert recorded() == counted


def test_every_end_of_a_kind_that_emits_is_a_declared_event_type() -> None:
    emitted = {
        f"{policy.events}.{status.value}": status
        for policy in KINDS.values()
        if policy.events is not None
        for status in REPORTED
        if status is not JobStatus.PARTIALLY_FAILED or policy.ends_in_part
    }
    assert emitted.keys() <= all_event_types().keys()
    assert {name: end_of(name, KINDS) for name in emitted} == emitted
    assert end_of("target.down", KINDS) is None


def test_a_crawl_of_one_page_has_no_event_for_a_part_of_its_result() -> None:
    assert "crawl.partially_failed" not in all_event_types()
    assert end_of("crawl.partially_failed", KINDS) is None


@pytest.mark.parametrize("ends", [True, False])
def test_who_writes_an_end_hands_it_on(world: WorkerWorld, ends: bool) -> None:
    handed: list[tuple[str, str, JobStatus]] = []
    world.listeners.append(
        relaying(KINDS, lambda tenant, subject: handed.append((tenant, subject, world.job.status)))
    )
    if ends:
        world.run(succeed)
    else:
        world.store.transition(world.job, rules.pause(world.job, START))
    job = world.job
    assert handed == ([(job.tenant, job.id, JobStatus.COMPLETED)] if ends else [])
    assert len(world.store.outbox.rows) == ends


def test_a_store_without_a_table_of_events_refuses_an_end_rather_than_lose_its_event() -> None:
    client: Any = None  # the test fails before it calls the client
    store = DynamoJobStore(client, "jobs", "idempotency", clock=HandClock())
    with pytest.raises(RuntimeError):
        store.transition(running(), rules.complete(running(), {}, START))

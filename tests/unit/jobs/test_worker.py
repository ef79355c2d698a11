"""Running jobs: every outcome, and faults of the application itself."""

import logging
from collections.abc import Mapping
from typing import Any

import pytest

from spinneret.jobs import limits, rules
from spinneret.jobs.models import Failure, JobEventKind, JobStatus
from spinneret.jobs.worker import CompletedInPart, Context, Worker
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    DependencyUnavailable,
    FetchTimeout,
    HttpUnavailable,
    NotFound,
)
from tests.fakes.jobs import Sent
from tests.fakes.time import HandClock
from tests.kinds import CRAWL_NORMAL
from tests.unit.jobs.worker_world import MIDDLE, WorkerWorld, raising, succeed

# ---------------------------------------------------------------- Outcomes


def test_a_job_is_completed_with_its_result(world: WorkerWorld) -> None:
    job = world.run(succeed)
    assert (job.status, job.result, job.progress) == (JobStatus.COMPLETED, {"n": 1}, 100)
    assert (job.fence, job.attempts, job.locked_by) == (1, 0, None)
    assert world.queue.sent == []
    assert world.timeline == [
        (0, "status_changed", "pending"),
        (1, "status_changed", "running"),
        (1, "status_changed", "completed"),
    ]


def test_a_finished_job_is_not_run_again(world: WorkerWorld) -> None:
    done = world.run(succeed)
    assert world.run(raising(AssertionError("ran again"))) == done


def test_a_transient_error_waits_with_a_delayed_message(world: WorkerWorld) -> None:
    job = world.run(raising(HttpUnavailable("503", retry_after=40.5)))
    assert (job.status, job.attempts) == (JobStatus.PENDING, 1)
    assert world.queue.take() == [Sent(CRAWL_NORMAL, job.ref, 41)]
    assert world.run(raising(AssertionError("ran early"))) == job
    world.clock.advance(41)
    assert world.run(succeed).status is JobStatus.COMPLETED


def test_a_wait_beyond_what_sqs_delays_gets_its_message_from_the_sweeper(
    world: WorkerWorld,
) -> None:
    job = world.run(raising(HttpUnavailable("503", retry_after=3600)))
    assert world.queue.take() == []
    world.clock.advance(3600 - limits.LONG_WAIT_LEAD_SECONDS - 1)
    world.sweep()
    assert world.queue.take() == []
    assert world.run(raising(AssertionError("ran early"))) == job
    world.clock.advance(31)
    world.sweep()
    delay = int(limits.LONG_WAIT_LEAD_SECONDS) - 30
    assert world.queue.take() == [Sent(CRAWL_NORMAL, job.ref, delay)]
    world.sweep()
    assert world.queue.take() == []


def test_used_up_attempts_fail_the_job(world: WorkerWorld) -> None:
    for _ in range(bounds.JOB_MAX_ATTEMPTS):
        world.run(raising(FetchTimeout("slow")))
        world.clock.advance(300)
    job = world.job
    assert (job.status, job.attempts) == (JobStatus.FAILED, bounds.JOB_MAX_ATTEMPTS)
    assert job.last_error is not None
    assert job.last_error.code == "FETCH_TIMEOUT"
    assert len(world.queue.take()) == bounds.JOB_MAX_ATTEMPTS - 1


def test_a_permanent_error_fails_the_job_at_once(world: WorkerWorld) -> None:
    job = world.run(raising(NotFound("no such page")))
    assert job.status is JobStatus.FAILED
    assert world.queue.sent == []
    assert world.timeline[-2:] == [
        (1, "error", "no such page"),
        (1, "status_changed", "failed"),
    ]


@pytest.mark.parametrize("error", [ValueError("password=hunter2"), KeyError("hunter2")])
def test_an_unexpected_exception_shows_its_class_only(
    world: WorkerWorld, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    job = world.run(raising(error))
    assert job.status is JobStatus.FAILED
    assert job.last_error is not None
    assert job.last_error.message == type(error).__name__
    shown = f"{job} {world.store.events(job.ref, None, 99)}"
    assert "hunter2" not in shown
    [record] = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert record.exc_info is not None


def test_a_job_of_a_kind_that_this_release_does_not_know_waits_uncharged(
    world: WorkerWorld, clock: HandClock
) -> None:
    worker = Worker(
        store=world.store,
        queue=world.queue,
        kinds={},
        handlers={"older": succeed},
        clock=clock,
        random=lambda: MIDDLE,
        new_owner=lambda: "one",
    )
    former = world.job
    worker.run(world.ref, lambda: 60.0)
    assert world.job == former
    assert world.run(succeed).status is JobStatus.COMPLETED


def test_a_queue_that_is_down_delays_a_retry_until_the_sweeper_sends_it(world: WorkerWorld) -> None:
    world.queue.available = False
    job = world.run(raising(FetchTimeout("slow")))
    assert job.status is JobStatus.PENDING
    world.queue.available = True
    world.clock.advance(1 + limits.RESEND_GRACE_SECONDS)
    world.sweep()
    assert [sent.ref for sent in world.queue.take()] == [job.ref]


# ---------------------------------------------------------------- Internal faults


def test_a_fault_of_our_own_charges_nothing_and_grows_to_its_cap(world: WorkerWorld) -> None:
    waits = []
    for _ in range(10):
        job = world.run(raising(DependencyUnavailable("opensearch")))
        assert (job.status, job.attempts) == (JobStatus.PENDING, 0)
        waits.append((job.due_at - world.clock()).total_seconds())
        world.clock.now = job.due_at
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]


def test_a_fault_of_our_own_is_waited_for_an_hour(world: WorkerWorld) -> None:
    begin = world.clock()
    for _ in range(1000):
        job = world.run(raising(DependencyUnavailable("opensearch")))
        if job.status is not JobStatus.PENDING:
            break
        world.clock.now = job.due_at
    assert (job.status, job.attempts) == (JobStatus.FAILED, 0)
    waited = (world.clock() - begin).total_seconds()
    assert waited >= limits.OWN_FAULT_LIMIT_SECONDS
    assert waited <= limits.OWN_FAULT_LIMIT_SECONDS + limits.OWN_FAULT_CAP_SECONDS


# ---------------------------------------------------------------- Secrets

SECRET = "hunter2-" + "x1y2z3"


# covers P-06
def test_no_event_and_no_error_of_a_job_holds_a_secret(world: WorkerWorld) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        context.note(JobEventKind.WARNING, f"password={SECRET}", {"headers": {"Cookie": SECRET}})
        context.checkpoint(f"fetching https://user:{SECRET}@site.example/", 10)
        raise FetchTimeout(f"Authorization: Bearer {SECRET}", details={"api_key": SECRET})

    job = world.run(handler)
    assert job.last_error is not None
    events = world.store.events(job.ref, None, 99)
    assert len(events) == 6
    assert SECRET not in f"{job.last_error} {events}"


def test_events_are_bounded(world: WorkerWorld) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        context.note(JobEventKind.METRIC, "many words " * 500, {"links": ["/page"] * 5000})
        return {}

    world.run(handler)
    [event] = [each for each in world.store.events(world.ref, None, 9) if each.kind == "metric"]
    assert len(event.message) == bounds.EVENT_MESSAGE_CHARS
    assert event.data["omitted_bytes"] > limits.EVENT_DATA_BYTES


def test_a_result_that_lacks_something_ends_the_run_as_partially_failed(world: WorkerWorld) -> None:
    lack = Failure(code="PAGES_UNREAD", message="2 pages didn't answer", type="transient")
    job = world.run(raising(CompletedInPart({"n": 1}, lack)))
    assert (job.status, job.result, job.last_error) == (
        JobStatus.PARTIALLY_FAILED,
        {"n": 1},
        lack,
    )
    assert (job.progress, job.attempts, job.locked_by) == (100, 0, None)
    assert rules.retry(job, world.clock()).status is JobStatus.PENDING

"""Running jobs under a lease: outcomes, deadlines, and claims that are over."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.kinds import KINDS
from spinneret.jobs.models import EventKind, Job, JobRef, JobStatus, Lane
from spinneret.jobs.ports import Claimed, NewJob
from spinneret.jobs.sweeper import Sweeper
from spinneret.jobs.worker import Context, Handler, Worker
from spinneret.kernel import limits
from spinneret.kernel.errors import (
    DependencyUnavailable,
    FetchTimeout,
    HttpUnavailable,
    LeaseLost,
    NotFound,
)
from tests import factories
from tests.fakes.jobs import FakeJobQueue, FakeJobStore, Sent
from tests.fakes.time import HandClock

MIDDLE = 0.5  # jitter of nothing
LEASE_SECONDS = 60.0 + limits.LEASE_MARGIN_SECONDS


class Bench:
    """A store with one job, and workers that run it with the given handler."""

    def __init__(self, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock) -> None:
        self.store, self.queue, self.clock = store, queue, clock
        self.remaining = 60.0
        self.owners = (f"owner-{n}" for n in itertools.count(1))
        self.ref = factories.job().ref
        self.add(factories.job())

    def add(self, job: Job) -> None:
        news = [NewJob(job=job)]
        self.store.submit(news, [factories.event()], None, factories.reply(), self.clock())

    def run(self, handler: Handler, ref: JobRef | None = None) -> Job:
        """Run the job once, as a message would, and answer how it stands then."""
        worker = Worker(
            store=self.store,
            queue=self.queue,
            kinds=KINDS,
            handlers={"crawl": handler},
            clock=self.clock,
            random=lambda: MIDDLE,
            new_owner=lambda: next(self.owners),
        )
        worker.run(ref or self.ref, lambda: self.remaining)
        return self.job

    def sweep(self) -> None:
        Sweeper(store=self.store, queue=self.queue, kinds=KINDS, clock=self.clock).sweep()

    @property
    def job(self) -> Job:
        found = self.store.get(self.ref)
        assert found is not None
        return found

    @property
    def timeline(self) -> list[tuple[int, str, str]]:
        events = self.store.events(self.ref, None, 999)
        return [(each.fence, each.kind, each.message) for each in events]


@pytest.fixture
def bench(store: FakeJobStore, queue: FakeJobQueue, clock: HandClock) -> Bench:
    return Bench(store, queue, clock)


def succeed(_: Context) -> Mapping[str, Any]:
    return {"n": 1}


def raising(error: BaseException) -> Handler:
    def handler(_: Context) -> Mapping[str, Any]:
        raise error

    return handler


# ---------------------------------------------------------------- Outcomes


def test_a_job_is_completed_with_its_result(bench: Bench) -> None:
    job = bench.run(succeed)
    assert (job.status, job.result, job.progress) == (JobStatus.COMPLETED, {"n": 1}, 100)
    assert (job.fence, job.attempts, job.locked_by) == (1, 0, None)
    assert bench.queue.sent == []
    assert bench.timeline == [
        (0, "status_changed", "pending"),
        (1, "status_changed", "running"),
        (1, "status_changed", "completed"),
    ]


def test_a_finished_job_is_not_run_again(bench: Bench) -> None:
    done = bench.run(succeed)
    assert bench.run(raising(AssertionError("ran again"))) == done


def test_a_transient_error_waits_with_a_delayed_message(bench: Bench) -> None:
    job = bench.run(raising(HttpUnavailable("503", retry_after=40.5)))
    assert (job.status, job.attempts) == (JobStatus.PENDING, 1)
    assert bench.queue.take() == [Sent(Lane.CRAWL_NORMAL, job.ref, 41)]
    assert bench.run(raising(AssertionError("ran early"))) == job
    bench.clock.advance(41)
    assert bench.run(succeed).status is JobStatus.COMPLETED


def test_a_wait_beyond_what_sqs_delays_is_sent_as_late_as_it_can(bench: Bench) -> None:
    job = bench.run(raising(HttpUnavailable("503", retry_after=3600)))
    assert bench.queue.take() == [Sent(Lane.CRAWL_NORMAL, job.ref, limits.SQS_MAX_DELAY_SECONDS)]
    bench.clock.advance(limits.SQS_MAX_DELAY_SECONDS)
    assert bench.run(raising(AssertionError("ran early"))) == job
    bench.clock.advance(3600)
    bench.sweep()
    assert [sent.ref for sent in bench.queue.take()] == [job.ref]


def test_used_up_attempts_fail_the_job(bench: Bench) -> None:
    for _ in range(limits.JOB_MAX_ATTEMPTS):
        bench.run(raising(FetchTimeout("slow")))
        bench.clock.advance(300)
    job = bench.job
    assert (job.status, job.attempts) == (JobStatus.FAILED, limits.JOB_MAX_ATTEMPTS)
    assert job.last_error is not None
    assert job.last_error.code == "FETCH_TIMEOUT"
    assert len(bench.queue.take()) == limits.JOB_MAX_ATTEMPTS - 1


def test_a_permanent_error_fails_the_job_at_once(bench: Bench) -> None:
    job = bench.run(raising(NotFound("no such page")))
    assert job.status is JobStatus.FAILED
    assert bench.queue.sent == []
    assert bench.timeline[-2:] == [
        (1, "error", "no such page"),
        (1, "status_changed", "failed"),
    ]


@pytest.mark.parametrize("error", [ValueError("password=hunter2"), KeyError("hunter2")])
def test_an_unexpected_exception_shows_its_class_only(
    bench: Bench, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    job = bench.run(raising(error))
    assert job.status is JobStatus.FAILED
    assert job.last_error is not None
    assert job.last_error.message == type(error).__name__
    shown = f"{job} {bench.store.events(job.ref, None, 99)}"
    assert "hunter2" not in shown
    [record] = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert record.exc_info is not None


def test_a_job_of_a_kind_without_handler_fails_instead_of_circling(
    bench: Bench, clock: HandClock
) -> None:
    worker = Worker(
        store=bench.store,
        queue=bench.queue,
        kinds=KINDS,
        handlers={},
        clock=clock,
        random=lambda: MIDDLE,
        new_owner=lambda: "one",
    )
    worker.run(bench.ref, lambda: 60.0)
    assert bench.job.status is JobStatus.FAILED


def test_a_queue_that_is_down_delays_a_retry_until_the_sweeper_sends_it(bench: Bench) -> None:
    bench.queue.available = False
    job = bench.run(raising(FetchTimeout("slow")))
    assert job.status is JobStatus.PENDING
    bench.queue.available = True
    bench.clock.advance(1 + limits.RESEND_GRACE_SECONDS)
    bench.sweep()
    assert [sent.ref for sent in bench.queue.take()] == [job.ref]


# ---------------------------------------------------------------- Faults of our own


def test_a_fault_of_our_own_charges_nothing_and_grows_to_its_cap(bench: Bench) -> None:
    waits = []
    for _ in range(10):
        job = bench.run(raising(DependencyUnavailable("opensearch")))
        assert (job.status, job.attempts) == (JobStatus.PENDING, 0)
        waits.append((job.due_at - bench.clock()).total_seconds())
        bench.clock.now = job.due_at
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]


def test_a_fault_of_our_own_is_waited_for_an_hour(bench: Bench) -> None:
    begin = bench.clock()
    for _ in range(1000):
        job = bench.run(raising(DependencyUnavailable("opensearch")))
        if job.status is not JobStatus.PENDING:
            break
        bench.clock.now = job.due_at
    assert (job.status, job.attempts) == (JobStatus.FAILED, 0)
    waited = (bench.clock() - begin).total_seconds()
    assert waited >= limits.OWN_FAULT_LIMIT_SECONDS
    assert waited <= limits.OWN_FAULT_LIMIT_SECONDS + limits.OWN_FAULT_CAP_SECONDS


def test_a_store_that_is_down_at_the_outcome_leaves_the_job_to_its_lease(bench: Bench) -> None:
    def unavailable(*_: Any) -> None:
        raise DependencyUnavailable("dynamodb")

    working = bench.store.transition
    bench.store.transition = unavailable  # type: ignore[method-assign]  # an outage
    with pytest.raises(DependencyUnavailable):
        bench.run(succeed)
    bench.store.transition = working  # type: ignore[method-assign]  # its end
    assert bench.job.status is JobStatus.RUNNING
    bench.clock.advance(LEASE_SECONDS)
    bench.sweep()
    assert bench.run(succeed).status is JobStatus.COMPLETED


# ---------------------------------------------------------------- Checkpoints and deadlines


def test_a_checkpoint_writes_step_and_progress_and_renews_the_lease(bench: Bench) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        bench.clock.advance(30)
        context.checkpoint("fetching", 40)
        assert (bench.job.step, bench.job.progress) == ("fetching", 40)
        assert bench.job.locked_until == bench.clock() + timedelta(seconds=LEASE_SECONDS)
        context.checkpoint("embedding", 20)
        assert (bench.job.step, bench.job.progress) == ("embedding", 40)
        return {}

    assert bench.run(handler).status is JobStatus.COMPLETED
    steps = [event for event in bench.timeline if event[1] == "step_started"]
    assert steps == [(1, "step_started", "fetching"), (1, "step_started", "embedding")]


@pytest.mark.parametrize(
    ("remaining", "lease"),
    [(60, 65), (295, 300), (299, 300), (900, 300)],
)
def test_a_lease_lasts_as_long_as_the_invocation_and_300_seconds_at_most(
    bench: Bench, remaining: float, lease: float
) -> None:
    leases = []
    bench.remaining = remaining

    def handler(context: Context) -> Mapping[str, Any]:
        leases.append(context.job.locked_until)
        return {}

    bench.run(handler)
    assert leases == [bench.clock() + timedelta(seconds=lease)]


def test_a_job_is_handed_back_before_the_deadline_of_its_invocation(bench: Bench) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        bench.remaining = limits.DEADLINE_MARGIN_SECONDS
        context.checkpoint("fetching", 10)
        bench.remaining = limits.DEADLINE_MARGIN_SECONDS - 0.1
        context.checkpoint("extracting", 30)
        raise AssertionError("went on")

    job = bench.run(handler)
    assert (job.status, job.attempts, job.progress) == (JobStatus.PENDING, 0, 10)
    assert job.last_error is None
    assert bench.queue.take() == [Sent(Lane.CRAWL_NORMAL, job.ref, 0)]
    bench.remaining = 60
    done = bench.run(succeed)
    assert (done.status, done.fence) == (JobStatus.COMPLETED, 2)


def test_events_of_the_handler_are_written_with_the_next_checkpoint(bench: Bench) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        context.note(EventKind.METRIC, "bytes", {"bytes": 7})
        assert len(bench.timeline) == 1
        context.checkpoint("fetching", 10)
        assert bench.timeline[-2:] == [(1, "metric", "bytes"), (1, "step_started", "fetching")]
        return {}

    bench.run(handler)
    events = bench.store.events(bench.ref, None, 99)
    assert [(each.fence, each.number) for each in events] == [
        (0, 0),
        *((1, n) for n in range(1, 5)),
    ]
    assert [each.progress for each in events] == sorted(each.progress for each in events)


# ---------------------------------------------------------------- Claims that fail


@pytest.mark.parametrize("tenant", ["acme", "other"])
def test_a_message_of_an_unknown_or_foreign_job_is_left_alone(bench: Bench, tenant: str) -> None:
    before = bench.job
    job_id = "job_unknown" if tenant == before.tenant else before.id
    bench.run(raising(AssertionError("ran")), JobRef(tenant=tenant, job_id=job_id))
    assert (bench.job, bench.queue.sent) == (before, [])


def test_a_duplicate_message_does_not_disturb_the_running_job(bench: Bench) -> None:
    def handler(_: Context) -> Mapping[str, Any]:
        running = bench.job
        assert bench.run(raising(AssertionError("ran twice"))) == running
        return {"n": 1}

    assert bench.run(handler).result == {"n": 1}


def test_an_expired_lease_is_taken_back_by_the_sweeper_only(bench: Bench) -> None:
    """A message that comes early finds the job still locked; the sweeper charges the attempt."""

    def handler(_: Context) -> Mapping[str, Any]:
        bench.clock.advance(LEASE_SECONDS)
        running = bench.job
        assert bench.run(raising(AssertionError("ran twice"))) == running
        return {"n": 1}

    assert bench.run(handler).result == {"n": 1}


# ---------------------------------------------------------------- Lost leases

ENDINGS: dict[str, Handler] = {
    "completes": succeed,
    "fails": raising(NotFound("gone")),
    "fails transiently": raising(FetchTimeout("slow")),
    "waits for our own parts": raising(DependencyUnavailable("s3")),
    "breaks": raising(ValueError("broken")),
    "learns of it": raising(LeaseLost("over")),
}


def _checkpoint(context: Context) -> Mapping[str, Any]:
    context.checkpoint("too late", 99)
    raise AssertionError("went on")


ENDINGS["goes on"] = _checkpoint


def _hand_back(bench: Bench) -> Handler:
    def handler(context: Context) -> Mapping[str, Any]:
        bench.remaining = 0.0
        return _checkpoint(context)

    return handler


@pytest.mark.parametrize("ending", [*ENDINGS, "hands back"])
@pytest.mark.parametrize("state", ["waiting", "running", "completed", "failed"])
def test_a_worker_whose_lease_was_taken_over_touches_nothing(
    bench: Bench, ending: str, state: str
) -> None:
    late = ENDINGS.get(ending) or _hand_back(bench)
    seen: dict[str, Any] = {}

    def zombie(context: Context) -> Mapping[str, Any]:
        bench.clock.advance(LEASE_SECONDS)
        bench.sweep()
        _second_claim(bench, state)
        bench.queue.take()
        seen.update(job=bench.job, timeline=bench.timeline)
        return late(context)

    job = bench.run(zombie)
    assert job == seen["job"]
    assert bench.timeline == seen["timeline"]
    assert bench.queue.sent == []


def _second_claim(bench: Bench, state: str) -> None:
    if state == "waiting":
        return
    until = bench.clock() + timedelta(minutes=5)
    claimed = bench.store.claim(bench.ref, "second", bench.clock(), until)
    assert isinstance(claimed, Claimed)
    finished: dict[str, Callable[[Job], Job]] = {
        "running": lambda job: replace(job, step="second"),
        "completed": lambda job: rules.complete(job, {"by": "second"}, bench.clock()),
        "failed": lambda job: rules.after_error(job, ValueError(), bench.clock(), MIDDLE),
    }
    bench.store.transition(claimed.job, finished[state](claimed.job))


def test_a_lost_lease_is_no_error_of_the_job(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.run(raising(LeaseLost("over")))
    assert [each.message for each in caplog.records] == ["lease_lost"]
    assert bench.job.last_error is None


@pytest.mark.parametrize("kill", [SystemExit(1), KeyboardInterrupt()])
def test_a_killed_worker_leaves_the_job_to_its_lease(bench: Bench, kill: BaseException) -> None:
    with pytest.raises(type(kill)):
        bench.run(raising(kill))
    assert bench.job.status is JobStatus.RUNNING
    bench.clock.advance(LEASE_SECONDS)
    bench.sweep()
    job = bench.job
    assert (job.status, job.attempts, job.locked_by, job.locked_until) == (
        JobStatus.PENDING,
        1,
        None,
        None,
    )

"""Running jobs under a lease: checkpoints, deadlines, and claims that are over."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobEventKind, JobFilter, JobRef, JobStatus
from spinneret.jobs.ports import Claimed
from spinneret.jobs.worker import Context, Defer, Handler
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    DependencyUnavailable,
    FetchTimeout,
    LeaseLost,
    NotFound,
)
from tests import factories
from tests.fakes.jobs import Sent
from tests.kinds import CRAWL_NORMAL
from tests.unit.jobs.worker_bench import LEASE_SECONDS, MIDDLE, Bench, raising, succeed

# ---------------------------------------------------------------- Checkpoints and deadlines


def test_a_checkpoint_writes_step_and_progress_and_renews_the_lease(bench: Bench) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        bench.clock.advance(30)
        context.checkpoint("fetching", 40)
        assert (bench.job.step, bench.job.progress) == ("fetching", 40)
        assert bench.job.locked_until == bench.clock() + timedelta(seconds=LEASE_SECONDS)
        assert bench.job.updated_at == bench.clock()
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
        bench.remaining = bounds.DEADLINE_MARGIN_SECONDS
        context.checkpoint("fetching", 10)
        bench.remaining = bounds.DEADLINE_MARGIN_SECONDS - 0.1
        context.checkpoint("extracting", 30)
        raise AssertionError("went on")

    job = bench.run(handler)
    assert (job.status, job.attempts, job.progress) == (JobStatus.PENDING, 0, 10)
    assert job.last_error is None
    assert bench.queue.take() == [Sent(CRAWL_NORMAL, job.ref, 0)]
    bench.remaining = 60
    done = bench.run(succeed)
    assert (done.status, done.fence) == (JobStatus.COMPLETED, 2)


def test_events_of_the_handler_are_written_with_the_next_checkpoint(bench: Bench) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        context.note(JobEventKind.METRIC, "bytes", {"bytes": 7})
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


# ---------------------------------------------------------------- Held steps


def test_steps_soon_after_a_write_are_written_with_the_next_one(bench: Bench) -> None:
    bench.holds_steps = True

    def handler(context: Context) -> Mapping[str, Any]:
        claimed = bench.job
        for step in ("fetching", "extracting"):
            bench.clock.advance(0.9)
            context.checkpoint(step, 40)
        assert (bench.job, bench.timeline[1:]) == (claimed, [])
        bench.clock.advance(0.2)
        context.checkpoint("embedding", 50)
        assert (bench.job.step, bench.job.progress) == ("embedding", 50)
        assert bench.job.locked_until == bench.clock() + timedelta(seconds=LEASE_SECONDS)
        assert [message for *_, message in bench.timeline[2:]] == [
            "fetching",
            "extracting",
            "embedding",
        ]
        bench.clock.advance(1.9)
        context.checkpoint("indexing", 80)
        assert bench.job.step == "embedding"
        return {}

    done = bench.run(handler)
    assert (done.status, done.step) == (JobStatus.COMPLETED, "indexing")
    events = bench.store.events(bench.ref, None, 99)
    assert [event.number for event in events[1:]] == [1, 2, 3, 4, 5, 6]
    assert [event.progress for event in events[1:]] == [0, 40, 40, 50, 80, 100]


@pytest.mark.parametrize("seconds", [2.0, -0.1])
def test_a_lost_claim_is_noticed_by_the_first_step_after_two_seconds(
    bench: Bench, seconds: float
) -> None:
    """Also if the clock was set back."""
    bench.holds_steps = True

    def handler(context: Context) -> Mapping[str, Any]:
        cancelled = rules.cancel(bench.job, bench.clock())
        bench.store.transition(bench.job, cancelled)
        context.checkpoint("fetching", 10)
        bench.clock.advance(seconds)
        with pytest.raises(LeaseLost):
            context.checkpoint("extracting", 30)
        raise LeaseLost("over")

    assert bench.run(handler).status is JobStatus.CANCELLED


def test_the_steps_of_a_watched_job_are_written_at_once(bench: Bench) -> None:
    bench.holds_steps = True
    bench.add(replace(factories.job(id="job_watched"), watchers=1))
    bench.ref = JobRef(tenant="acme", job_id="job_watched")

    def handler(context: Context) -> Mapping[str, Any]:
        context.checkpoint("fetching", 10)
        assert bench.job.step == "fetching"
        return {}

    assert bench.run(handler).status is JobStatus.COMPLETED


def test_held_steps_are_lost_with_their_process_and_repeated_by_the_next_attempt(
    bench: Bench,
) -> None:
    bench.holds_steps = True

    def dies(context: Context) -> Mapping[str, Any]:
        context.checkpoint("fetching", 10)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.run(dies)
    assert bench.timeline[1:] == []
    bench.clock.advance(LEASE_SECONDS + 60)
    bench.sweep()

    def handler(context: Context) -> Mapping[str, Any]:
        context.checkpoint("fetching", 10)
        return {}

    assert bench.run(handler).status is JobStatus.COMPLETED
    assert [fence for fence, _, message in bench.timeline if message == "fetching"] == [3]


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


# covers P-02
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


def test_a_payload_that_kills_every_worker_fails_for_good_and_is_listed(bench: Bench) -> None:
    """Also where redrives are left: they are for transient reasons."""
    poison = factories.job(id="job_2", max_redrives=bounds.REDRIVES)
    bench.add(poison)
    deaths = 0
    for _ in range(20):
        messages = [sent for sent in bench.queue.take() if sent.ref == poison.ref]
        if deaths == 0 or messages:
            with pytest.raises(SystemExit):
                bench.run(raising(SystemExit(1)), poison.ref)
            deaths += 1
        bench.clock.advance(300)
        bench.sweep()
    assert deaths == bounds.JOB_MAX_ATTEMPTS
    troubled = bench.store.page(poison.tenant, JobFilter(troubled=True), None, 9)
    [dead] = troubled.items
    assert (dead.id, dead.status, dead.attempts) == (poison.id, JobStatus.FAILED, deaths)
    assert dead.last_error is not None
    assert dead.last_error.code == "LEASE_EXPIRED"


# ---------------------------------------------------------------- Lost answers


def test_a_checkpoint_whose_answer_was_lost_costs_nothing(bench: Bench) -> None:
    working = bench.store.transition

    def lossy(*given: Any, **named: Any) -> int:
        working(*given, **named)
        bench.store.transition = working  # type: ignore[method-assign]  # only once
        raise DependencyUnavailable("dynamodb")

    def handler(context: Context) -> Mapping[str, Any]:
        context.checkpoint("fetching", 20)
        bench.store.transition = lossy  # type: ignore[method-assign]  # answers are lost
        context.note(JobEventKind.WARNING, "half of it")
        context.checkpoint("extracting", 50)
        raise AssertionError("went on")

    job = bench.run(handler)
    assert (job.status, job.attempts, job.own_faults) == (JobStatus.PENDING, 0, 1)
    assert (job.step, job.progress, job.locked_until) == ("extracting", 50, None)
    events = bench.store.events(job.ref, None, 99)
    assert [event.progress for event in events] == sorted(event.progress for event in events)
    assert [event.message for event in events if event.fence == 1] == [
        "running",
        "fetching",
        "half of it",
        "extracting",
        "dynamodb: temporarily unavailable",
        "pending",
    ]


def test_a_checkpoint_that_did_not_happen_is_written_with_the_next_write(bench: Bench) -> None:
    working = bench.store.transition

    def down(*_: Any, **__: Any) -> int:
        bench.store.transition = working  # type: ignore[method-assign]  # only once
        raise DependencyUnavailable("dynamodb")

    def handler(context: Context) -> Mapping[str, Any]:
        bench.store.transition = down  # type: ignore[method-assign]  # an outage
        context.checkpoint("fetching", 20)
        raise AssertionError("went on")

    job = bench.run(handler)
    assert (job.status, job.attempts, job.step, job.progress) == (
        JobStatus.PENDING,
        0,
        "fetching",
        20,
    )


def test_more_events_than_a_transaction_holds_are_written_in_parts(bench: Bench) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        for number in range(250):
            context.note(JobEventKind.METRIC, f"page {number}")
        return {}

    assert bench.run(handler).status is JobStatus.COMPLETED
    recorded = [event for event in bench.timeline if event[1] == "metric"]
    assert [message for _, _, message in recorded] == [f"page {number}" for number in range(250)]


# ---------------------------------------------------------------- Polite waits


def test_a_polite_wait_is_not_charged_however_often_it_happens(bench: Bench) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        raise Defer(bench.clock() + timedelta(seconds=30), "site.example")

    for _ in range(10):
        job = bench.run(handler)
        assert (job.status, job.attempts, job.redrives) == (JobStatus.PENDING, 0, 0)
        assert (job.due_at - bench.clock()).total_seconds() == 30
        assert job.waiting_for == "site.example"
        assert bench.queue.take() == [Sent(CRAWL_NORMAL, job.ref, 30)]
        bench.clock.advance(30)
    assert bench.run(succeed).status is JobStatus.COMPLETED


def test_who_waited_knows_it_in_the_next_claim_and_no_longer(bench: Bench) -> None:
    seen = []

    def handler(context: Context) -> Mapping[str, Any]:
        seen.append(context.job.waiting_for)
        if len(seen) == 1:
            raise Defer(bench.clock(), "site.example")
        raise FetchTimeout("slow")

    bench.run(handler)
    job = bench.run(handler)
    assert seen == [None, "site.example"]
    assert job.waiting_for is None

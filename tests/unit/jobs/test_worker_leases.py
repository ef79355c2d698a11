"""Running jobs under a lease: checkpoints, deadlines, and expired claims."""

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
from tests.unit.jobs.worker_world import LEASE_SECONDS, MIDDLE, WorkerWorld, raising, succeed

# ---------------------------------------------------------------- Checkpoints and deadlines


def test_a_checkpoint_writes_step_and_progress_and_renews_the_lease(world: WorkerWorld) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        world.clock.advance(30)
        context.checkpoint("fetching", 40)
        assert (world.job.step, world.job.progress) == ("fetching", 40)
        assert world.job.locked_until == world.clock() + timedelta(seconds=LEASE_SECONDS)
        assert world.job.updated_at == world.clock()
        context.checkpoint("embedding", 20)
        assert (world.job.step, world.job.progress) == ("embedding", 40)
        return {}

    assert world.run(handler).status is JobStatus.COMPLETED
    steps = [event for event in world.timeline if event[1] == "step_started"]
    assert steps == [(1, "step_started", "fetching"), (1, "step_started", "embedding")]


@pytest.mark.parametrize(
    ("remaining", "lease"),
    [(60, 65), (295, 300), (299, 300), (900, 300)],
)
def test_a_lease_lasts_as_long_as_the_invocation_and_300_seconds_at_most(
    world: WorkerWorld, remaining: float, lease: float
) -> None:
    leases = []
    world.remaining = remaining

    def handler(context: Context) -> Mapping[str, Any]:
        leases.append(context.job.locked_until)
        return {}

    world.run(handler)
    assert leases == [world.clock() + timedelta(seconds=lease)]


def test_a_job_is_handed_back_before_the_deadline_of_its_invocation(world: WorkerWorld) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        world.remaining = bounds.DEADLINE_MARGIN_SECONDS
        context.checkpoint("fetching", 10)
        world.remaining = bounds.DEADLINE_MARGIN_SECONDS - 0.1
        context.checkpoint("extracting", 30)
        raise AssertionError("it continued")

    job = world.run(handler)
    assert (job.status, job.attempts, job.progress) == (JobStatus.PENDING, 0, 10)
    assert job.last_error is None
    assert world.queue.take() == [Sent(CRAWL_NORMAL, job.ref, 0)]
    world.remaining = 60
    done = world.run(succeed)
    assert (done.status, done.fence) == (JobStatus.COMPLETED, 2)


def test_events_of_the_handler_are_written_with_the_next_checkpoint(world: WorkerWorld) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        context.note(JobEventKind.METRIC, "bytes", {"bytes": 7})
        assert len(world.timeline) == 1
        context.checkpoint("fetching", 10)
        assert world.timeline[-2:] == [(1, "metric", "bytes"), (1, "step_started", "fetching")]
        return {}

    world.run(handler)
    events = world.store.events(world.ref, None, 99)
    assert [(each.fence, each.number) for each in events] == [
        (0, 0),
        *((1, n) for n in range(1, 5)),
    ]
    assert [each.progress for each in events] == sorted(each.progress for each in events)


# ---------------------------------------------------------------- Steps held back


def test_steps_soon_after_a_write_are_written_with_the_next_one(world: WorkerWorld) -> None:
    world.holds_steps = True

    def handler(context: Context) -> Mapping[str, Any]:
        claimed = world.job
        for step in ("fetching", "extracting"):
            world.clock.advance(0.9)
            context.checkpoint(step, 40)
        assert (world.job, world.timeline[1:]) == (claimed, [])
        world.clock.advance(0.2)
        context.checkpoint("embedding", 50)
        assert (world.job.step, world.job.progress) == ("embedding", 50)
        assert world.job.locked_until == world.clock() + timedelta(seconds=LEASE_SECONDS)
        assert [message for *_, message in world.timeline[2:]] == [
            "fetching",
            "extracting",
            "embedding",
        ]
        world.clock.advance(1.9)
        context.checkpoint("indexing", 80)
        assert world.job.step == "embedding"
        return {}

    done = world.run(handler)
    assert (done.status, done.step) == (JobStatus.COMPLETED, "indexing")
    events = world.store.events(world.ref, None, 99)
    assert [event.number for event in events[1:]] == [1, 2, 3, 4, 5, 6]
    assert [event.progress for event in events[1:]] == [0, 40, 40, 50, 80, 100]


@pytest.mark.parametrize("seconds", [2.0, -0.1])
def test_a_lost_claim_is_noticed_by_the_first_step_after_two_seconds(
    world: WorkerWorld, seconds: float
) -> None:
    """This also holds if the clock was set back."""
    world.holds_steps = True

    def handler(context: Context) -> Mapping[str, Any]:
        cancelled = rules.cancel(world.job, world.clock())
        world.store.transition(world.job, cancelled)
        context.checkpoint("fetching", 10)
        world.clock.advance(seconds)
        with pytest.raises(LeaseLost):
            context.checkpoint("extracting", 30)
        raise LeaseLost("over")

    assert world.run(handler).status is JobStatus.CANCELLED


def test_the_steps_of_a_watched_job_are_written_at_once(world: WorkerWorld) -> None:
    world.holds_steps = True
    world.add(replace(factories.job(id="job_watched"), watchers=1))
    world.ref = JobRef(tenant="acme", job_id="job_watched")

    def handler(context: Context) -> Mapping[str, Any]:
        context.checkpoint("fetching", 10)
        assert world.job.step == "fetching"
        return {}

    assert world.run(handler).status is JobStatus.COMPLETED


def test_held_steps_are_lost_with_their_process_and_repeated_by_the_next_attempt(
    world: WorkerWorld,
) -> None:
    world.holds_steps = True

    def dies(context: Context) -> Mapping[str, Any]:
        context.checkpoint("fetching", 10)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        world.run(dies)
    assert world.timeline[1:] == []
    world.clock.advance(LEASE_SECONDS + 60)
    world.sweep()

    def handler(context: Context) -> Mapping[str, Any]:
        context.checkpoint("fetching", 10)
        return {}

    assert world.run(handler).status is JobStatus.COMPLETED
    assert [fence for fence, _, message in world.timeline if message == "fetching"] == [3]


# ---------------------------------------------------------------- Claims that fail


@pytest.mark.parametrize("tenant", ["acme", "other"])
def test_a_message_of_an_unknown_or_foreign_job_is_left_alone(
    world: WorkerWorld, tenant: str
) -> None:
    before = world.job
    job_id = "job_unknown" if tenant == before.tenant else before.id
    world.run(raising(AssertionError("ran")), JobRef(tenant=tenant, job_id=job_id))
    assert (world.job, world.queue.sent) == (before, [])


def test_a_duplicate_message_does_not_disturb_the_running_job(world: WorkerWorld) -> None:
    def handler(_: Context) -> Mapping[str, Any]:
        running = world.job
        assert world.run(raising(AssertionError("ran twice"))) == running
        return {"n": 1}

    assert world.run(handler).result == {"n": 1}


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
    raise AssertionError("it continued")


ENDINGS["goes on"] = _checkpoint


def _hand_back(world: WorkerWorld) -> Handler:
    def handler(context: Context) -> Mapping[str, Any]:
        world.remaining = 0.0
        return _checkpoint(context)

    return handler


# covers P-02
@pytest.mark.parametrize("ending", [*ENDINGS, "hands back"])
@pytest.mark.parametrize("state", ["waiting", "running", "completed", "failed"])
def test_a_worker_whose_lease_was_taken_over_touches_nothing(
    world: WorkerWorld, ending: str, state: str
) -> None:
    late = ENDINGS.get(ending) or _hand_back(world)
    seen: dict[str, Any] = {}

    def zombie(context: Context) -> Mapping[str, Any]:
        world.clock.advance(LEASE_SECONDS)
        world.sweep()
        _second_claim(world, state)
        world.queue.take()
        seen.update(job=world.job, timeline=world.timeline)
        return late(context)

    job = world.run(zombie)
    assert job == seen["job"]
    assert world.timeline == seen["timeline"]
    assert world.queue.sent == []


def _second_claim(world: WorkerWorld, state: str) -> None:
    if state == "waiting":
        return
    until = world.clock() + timedelta(minutes=5)
    claimed = world.store.claim(world.ref, "second", world.clock(), until)
    assert isinstance(claimed, Claimed)
    finished: dict[str, Callable[[Job], Job]] = {
        "running": lambda job: replace(job, step="second"),
        "completed": lambda job: rules.complete(job, {"by": "second"}, world.clock()),
        "failed": lambda job: rules.after_error(job, ValueError(), world.clock(), MIDDLE),
    }
    world.store.transition(claimed.job, finished[state](claimed.job))


def test_a_lost_lease_is_no_error_of_the_job(
    world: WorkerWorld, caplog: pytest.LogCaptureFixture
) -> None:
    world.run(raising(LeaseLost("over")))
    assert [each.message for each in caplog.records] == ["lease_lost"]
    assert world.job.last_error is None


@pytest.mark.parametrize("kill", [SystemExit(1), KeyboardInterrupt()])
def test_a_killed_worker_leaves_the_job_to_its_lease(
    world: WorkerWorld, kill: BaseException
) -> None:
    with pytest.raises(type(kill)):
        world.run(raising(kill))
    assert world.job.status is JobStatus.RUNNING
    world.clock.advance(LEASE_SECONDS)
    world.sweep()
    job = world.job
    assert (job.status, job.attempts, job.locked_by, job.locked_until) == (
        JobStatus.PENDING,
        1,
        None,
        None,
    )


def test_a_payload_that_kills_every_worker_fails_for_good_and_is_listed(world: WorkerWorld) -> None:
    """This holds even if redrives remain, because redrives are only for transient failures."""
    poison = factories.job(id="job_2", max_redrives=bounds.REDRIVES)
    world.add(poison)
    deaths = 0
    for _ in range(20):
        messages = [sent for sent in world.queue.take() if sent.ref == poison.ref]
        if deaths == 0 or messages:
            with pytest.raises(SystemExit):
                world.run(raising(SystemExit(1)), poison.ref)
            deaths += 1
        world.clock.advance(300)
        world.sweep()
    assert deaths == bounds.JOB_MAX_ATTEMPTS
    troubled = world.store.page(poison.tenant, JobFilter(troubled=True), None, 9)
    [dead] = troubled.items
    assert (dead.id, dead.status, dead.attempts) == (poison.id, JobStatus.FAILED, deaths)
    assert dead.last_error is not None
    assert dead.last_error.code == "LEASE_EXPIRED"


# ---------------------------------------------------------------- Lost responses


def test_a_checkpoint_whose_answer_was_lost_costs_nothing(world: WorkerWorld) -> None:
    working = world.store.transition

    def lossy(*given: Any, **named: Any) -> int:
        working(*given, **named)
        world.store.transition = working  # type: ignore[method-assign]  # only once
        raise DependencyUnavailable("dynamodb")

    def handler(context: Context) -> Mapping[str, Any]:
        context.checkpoint("fetching", 20)
        world.store.transition = lossy  # type: ignore[method-assign]  # lost responses
        context.note(JobEventKind.WARNING, "half of it")
        context.checkpoint("extracting", 50)
        raise AssertionError("it continued")

    job = world.run(handler)
    assert (job.status, job.attempts, job.own_faults) == (JobStatus.PENDING, 0, 1)
    assert (job.step, job.progress, job.locked_until) == ("extracting", 50, None)
    events = world.store.events(job.ref, None, 99)
    assert [event.progress for event in events] == sorted(event.progress for event in events)
    assert [event.message for event in events if event.fence == 1] == [
        "running",
        "fetching",
        "half of it",
        "extracting",
        "dynamodb: temporarily unavailable",
        "pending",
    ]


def test_a_checkpoint_that_did_not_happen_is_written_with_the_next_write(
    world: WorkerWorld,
) -> None:
    working = world.store.transition

    def down(*_: Any, **__: Any) -> int:
        world.store.transition = working  # type: ignore[method-assign]  # only once
        raise DependencyUnavailable("dynamodb")

    def handler(context: Context) -> Mapping[str, Any]:
        world.store.transition = down  # type: ignore[method-assign]  # an outage
        context.checkpoint("fetching", 20)
        raise AssertionError("it continued")

    job = world.run(handler)
    assert (job.status, job.attempts, job.step, job.progress) == (
        JobStatus.PENDING,
        0,
        "fetching",
        20,
    )


def test_more_events_than_a_transaction_holds_are_written_in_parts(world: WorkerWorld) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        for number in range(250):
            context.note(JobEventKind.METRIC, f"page {number}")
        return {}

    assert world.run(handler).status is JobStatus.COMPLETED
    recorded = [event for event in world.timeline if event[1] == "metric"]
    assert [message for _, _, message in recorded] == [f"page {number}" for number in range(250)]


# ---------------------------------------------------------------- Polite waits


def test_a_polite_wait_is_not_charged_however_often_it_happens(world: WorkerWorld) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        raise Defer(world.clock() + timedelta(seconds=30), "site.example")

    for _ in range(10):
        job = world.run(handler)
        assert (job.status, job.attempts, job.redrives) == (JobStatus.PENDING, 0, 0)
        assert (job.due_at - world.clock()).total_seconds() == 30
        assert job.waiting_for == "site.example"
        assert world.queue.take() == [Sent(CRAWL_NORMAL, job.ref, 30)]
        world.clock.advance(30)
    assert world.run(succeed).status is JobStatus.COMPLETED


def test_who_waited_knows_it_in_the_next_claim_and_no_longer(world: WorkerWorld) -> None:
    seen = []

    def handler(context: Context) -> Mapping[str, Any]:
        seen.append(context.job.waiting_for)
        if len(seen) == 1:
            raise Defer(world.clock(), "site.example")
        raise FetchTimeout("slow")

    world.run(handler)
    job = world.run(handler)
    assert seen == [None, "site.example"]
    assert job.waiting_for is None

"""Messages whose job can't be claimed, and their effect on the job."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs.models import Job, JobStatus
from spinneret.jobs.ports import Claimed
from spinneret.jobs.worker import Defer
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable, FetchTimeout
from tests import factories
from tests.fakes.jobs import Sent
from tests.fakes.time import START
from tests.kinds import CRAWL_NORMAL
from tests.unit.jobs.worker_world import LEASE_SECONDS, WorkerWorld, raising, succeed

RAN = raising(AssertionError("ran"))
MINUTE = timedelta(seconds=60)


def lost(world: WorkerWorld, **given: Any) -> Job:
    """Add a job whose worker died under a lease of a minute."""
    job = factories.job(id="job_2", **given)
    world.add(job)
    claimed = world.store.claim(job.ref, "dead", world.clock(), world.clock() + MINUTE)
    assert isinstance(claimed, Claimed)
    return claimed.job


def now_stands(world: WorkerWorld, job: Job) -> Job:
    found = world.store.get(job.ref)
    assert found is not None
    return found


# ---------------------------------------------------------------- Expired leases


def test_without_a_sweeper_a_claim_takes_a_job_whose_lease_is_over(world: WorkerWorld) -> None:
    """The dead worker's message is received again; the claim charges as much as the sweeper."""
    job = lost(world)
    world.clock.advance(60 + bounds.CLOCK_SKEW_SECONDS)
    world.run(succeed, job.ref)
    done = now_stands(world, job)
    assert (done.status, done.attempts, done.fence) == (JobStatus.COMPLETED, 1, 3)
    events = world.store.events(job.ref, None, 9)
    assert [(event.fence, event.message) for event in events] == [
        (0, "pending"),
        (2, "pending"),
        (3, "running"),
        (3, "completed"),
    ]
    assert events[1].data == {"status": "pending", "reason": "LEASE_EXPIRED"}


@pytest.mark.parametrize("late", [-1.0, 0.0, bounds.CLOCK_SKEW_SECONDS - 0.001])
def test_a_lease_that_may_not_be_over_by_every_clock_is_left_alone(
    world: WorkerWorld, late: float
) -> None:
    job = lost(world)
    world.clock.advance(60 + late)
    world.run(RAN, job.ref)
    assert now_stands(world, job) == job
    assert world.queue.sent == []


def test_the_last_attempt_is_not_taken_but_failed(world: WorkerWorld) -> None:
    recorded: list[JobStatus] = []
    world.listeners.append(lambda job, _: recorded.append(job.status))
    job = lost(world, attempts=bounds.JOB_MAX_ATTEMPTS - 1, max_redrives=5)
    world.clock.advance(60 + bounds.CLOCK_SKEW_SECONDS)
    world.run(RAN, job.ref)
    dead = now_stands(world, job)
    assert (dead.status, dead.attempts) == (JobStatus.FAILED, bounds.JOB_MAX_ATTEMPTS)
    assert (recorded, world.queue.sent) == ([JobStatus.FAILED], [])


def test_of_two_workers_that_find_a_dead_one_s_job_one_gets_it(world: WorkerWorld) -> None:
    """Another worker runs the job between this worker's read and its write."""
    job = lost(world)
    world.clock.advance(60 + bounds.CLOCK_SKEW_SECONDS)
    working = world.store.transition
    runs: list[str] = []

    def overtaken(*given: Any, **named: Any) -> int:
        world.store.transition = working  # type: ignore[method-assign]  # only once
        world.run(lambda _: runs.append("first") or {}, job.ref)
        return working(*given, **named)

    world.store.transition = overtaken  # type: ignore[method-assign]  # another worker
    world.run(lambda _: runs.append("second") or {}, job.ref)
    assert runs == ["first"]
    assert (now_stands(world, job).status, now_stands(world, job).attempts) == ("completed", 1)


def test_a_lease_that_was_renewed_meanwhile_stands(world: WorkerWorld) -> None:
    job = lost(world)
    world.clock.advance(60 + bounds.CLOCK_SKEW_SECONDS)
    working = world.store.transition

    def renewed(before: Job, after: Job, *given: Any, **named: Any) -> int:
        world.store.transition = working  # type: ignore[method-assign]  # only once
        alive = replace(job, locked_until=world.clock() + MINUTE)
        working(job, alive, lease=factories.lease(job))
        return working(before, after, *given, **named)

    world.store.transition = renewed  # type: ignore[method-assign]  # a checkpoint
    world.run(RAN, job.ref)
    assert (now_stands(world, job).status, now_stands(world, job).fence) == ("running", job.fence)


def test_a_store_that_fails_in_the_middle_gives_the_message_back(world: WorkerWorld) -> None:
    job = lost(world)
    world.clock.advance(60 + bounds.CLOCK_SKEW_SECONDS)

    def down(*_: Any, **__: Any) -> int:
        raise DependencyUnavailable("dynamodb")

    world.store.transition = down  # type: ignore[method-assign]  # an outage
    with pytest.raises(DependencyUnavailable):
        world.run(RAN, job.ref)
    assert now_stands(world, job) == job


# ---------------------------------------------------------------- Early messages


@pytest.mark.parametrize(
    ("early", "delay"),
    [(0.001, 1), (0.02, 1), (1.0, 1), (1.5, 2), (5.0, 5), (900.0, 900)],
)
def test_a_message_that_comes_early_is_replaced_by_one_that_does_not(
    world: WorkerWorld, early: float, delay: int
) -> None:
    job = factories.job(id="job_2", due_at=START + timedelta(seconds=early))
    world.add(job)
    world.run(RAN, job.ref)
    assert world.queue.take() == [Sent(CRAWL_NORMAL, job.ref, delay)]
    assert now_stands(world, job) == job
    world.clock.advance(delay)
    world.run(succeed, job.ref)
    assert now_stands(world, job).status is JobStatus.COMPLETED


@pytest.mark.parametrize(
    "given",
    [
        {"due_at": START + timedelta(seconds=900.001)},
        {"due_at": START, "expires_at": START},
        {"status": JobStatus.PAUSED, "due_at": START + MINUTE},
        {"status": JobStatus.CANCELLED, "due_at": START + MINUTE},
        {"status": JobStatus.FAILED, "due_at": START + MINUTE},
    ],
    ids=["far off", "expired", "paused", "cancelled", "failed"],
)
def test_other_messages_are_not_replaced(world: WorkerWorld, given: dict[str, Any]) -> None:
    job = factories.job(id="job_2", **given)
    world.add(job)
    world.run(RAN, job.ref)
    assert world.queue.sent == []


def test_duplicates_of_a_message_do_not_multiply(world: WorkerWorld) -> None:
    world.run(raising(FetchTimeout("slow")))
    [sent] = world.queue.take()
    for _ in range(5):
        world.run(RAN)
        world.run(RAN)
        assert world.queue.take() == [sent, sent]


def test_a_wait_that_sqs_can_not_delay_is_met_to_the_second(world: WorkerWorld) -> None:
    """The sweeper sends a single message, delayed by the remaining time."""
    until = world.clock() + timedelta(seconds=1500)
    world.run(raising(Defer(until, "site.example")))
    while not (sent := world.queue.take()):
        world.clock.advance(55)
        world.sweep()
    world.clock.advance(sent[0].delay)
    assert (len(sent), world.clock()) == (1, until)
    job = world.run(succeed)
    assert (job.status, job.started_at) == (JobStatus.COMPLETED, START)


def test_a_queue_that_is_down_leaves_an_early_message_to_the_sweeper(world: WorkerWorld) -> None:
    job = factories.job(id="job_2", due_at=START + timedelta(seconds=1))
    world.add(job)
    world.queue.available = False
    world.run(RAN, job.ref)
    world.queue.available = True
    world.clock.advance(1 + LEASE_SECONDS)
    world.sweep()
    assert job.ref in [sent.ref for sent in world.queue.take()]

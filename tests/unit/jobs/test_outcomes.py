"""Storing the outcome of a claim: results that can't be stored, and an unresponsive store."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs import limits
from spinneret.jobs.models import JobStatus
from spinneret.jobs.worker import Context, Defer, Handler
from spinneret.kernel import bounds
from spinneret.kernel.canonical import canonical_json
from spinneret.kernel.errors import DependencyUnavailable, FetchTimeout, NotFound
from tests.unit.jobs.worker_world import LEASE_SECONDS, WorkerWorld, raising, succeed

# ---------------------------------------------------------------- Results


def _circle() -> dict[str, Any]:
    result: dict[str, Any] = {}
    result["again"] = result
    return result


def sized(size: int) -> dict[str, str]:
    """Return a result with `size` bytes of JSON."""
    return {"text": "x" * (size - len(canonical_json({"text": ""})))}


UNFIT: dict[str, Any] = {
    "not a number": {"score": float("nan")},
    "infinite": {"score": float("inf")},
    "a set": {"tags": {"a", "b"}},
    "bytes": {"body": b"\x00"},
    "a circle": _circle(),
    "no object": ["a", "b"],
    "nothing": None,
    "too large": sized(limits.JOB_RESULT_BYTES + 1),
    "too large in UTF-8": {"text": "ü" * (limits.JOB_RESULT_BYTES // 2)},
}


@pytest.mark.parametrize("unfit", list(UNFIT))
def test_a_result_that_can_not_be_kept_fails_the_job_for_good(
    world: WorkerWorld, unfit: str
) -> None:
    job = world.run(lambda _: UNFIT[unfit])
    assert (job.status, job.attempts, job.result) == (JobStatus.FAILED, 1, None)
    assert job.last_error is not None
    assert (job.last_error.code, job.last_error.type) == ("RESULT_REFUSED", "permanent")
    assert job.last_error.message.startswith("the job's result ")
    assert [message for _, _, message in world.timeline][-1] == "failed"
    assert world.run(raising(AssertionError("ran again"))) == job


def test_the_largest_result_is_kept(world: WorkerWorld) -> None:
    result = sized(limits.JOB_RESULT_BYTES)
    job = world.run(lambda _: result)
    assert (job.status, job.result) == (JobStatus.COMPLETED, result)


def test_a_result_that_the_store_can_not_take_fails_the_job(
    world: WorkerWorld, caplog: pytest.LogCaptureFixture
) -> None:
    """The reason doesn't matter, because the next attempt would fail the same way."""
    working = world.store.transition

    def picky(before: Any, after: Any, *given: Any, **named: Any) -> int:
        if after.status is JobStatus.COMPLETED:
            raise ValueError("item too large")
        return working(before, after, *given, **named)

    world.store.transition = picky  # type: ignore[method-assign]  # a wrong call
    job = world.run(succeed)
    assert (job.status, job.attempts) == (JobStatus.FAILED, 1)
    assert [message for _, _, message in world.timeline] == [
        "pending",
        "running",
        "ValueError",
        "failed",
    ]
    assert "crawl_failed" in caplog.text


# ---------------------------------------------------------------- A store that doesn't respond


def handing_back(world: WorkerWorld) -> Handler:
    def handler(context: Context) -> Mapping[str, Any]:
        world.remaining = bounds.DEADLINE_MARGIN_SECONDS - 0.1
        context.checkpoint("late", 10)
        return {}

    return handler


ENDINGS: dict[str, tuple[Callable[[WorkerWorld], Handler], JobStatus, int]] = {
    "completes": (lambda _: succeed, JobStatus.COMPLETED, 0),
    "fails": (lambda _: raising(NotFound("gone")), JobStatus.FAILED, 1),
    "fails transiently": (lambda _: raising(FetchTimeout("slow")), JobStatus.PENDING, 1),
    "waits for our own parts": (
        lambda _: raising(DependencyUnavailable("s3")),
        JobStatus.PENDING,
        0,
    ),
    "is deferred": (
        lambda world: raising(Defer(world.clock() + timedelta(seconds=90), "site.example")),
        JobStatus.PENDING,
        0,
    ),
    "hands back": (handing_back, JobStatus.PENDING, 0),
}


def outage(world: WorkerWorld, calls: int, *, happens: bool = False) -> list[float]:
    """Fail `calls` writes of outcomes, or their responses; return the seconds of the waits."""
    working, left = world.store.transition, [calls]
    slept: list[float] = []
    sleeping = world.sleep

    def fails(*given: Any, **named: Any) -> int:
        if left[0] == 0:
            return working(*given, **named)
        left[0] -= 1
        if happens:
            working(*given, **named)
        raise DependencyUnavailable("dynamodb")

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        sleeping(seconds)

    world.store.transition = fails  # type: ignore[method-assign]  # an outage
    world.sleep = sleep  # type: ignore[method-assign]  # observed
    return slept


@pytest.mark.parametrize("happens", [False, True], ids=["write lost", "answer lost"])
@pytest.mark.parametrize("ending", list(ENDINGS))
def test_an_outcome_that_fails_once_is_written_and_charges_nothing(
    world: WorkerWorld, ending: str, happens: bool
) -> None:
    make, status, attempts = ENDINGS[ending]
    recorded: list[JobStatus] = []
    world.listeners.append(lambda job, _: recorded.append(job.status))
    outage(world, 1, happens=happens)
    job = world.run(make(world))
    assert (job.status, job.attempts, job.redrives) == (status, attempts, 0)
    assert set(recorded) == {status}
    assert [sent.ref for sent in world.queue.take()] == [job.ref] * (status is JobStatus.PENDING)
    events = world.store.events(job.ref, None, 99)
    assert [event.message for event in events if event.fence == 1][-1] == status
    assert len([event for event in events if event.message == status and event.fence == 1]) == 1


def test_a_minute_without_a_store_is_sat_out_with_growing_waits(world: WorkerWorld) -> None:
    world.remaining = 120
    slept = outage(world, 11)
    assert world.run(succeed).status is JobStatus.COMPLETED
    assert slept == [0.5, 1, 2, 4, 8, 8, 8, 8, 8, 8, 8]
    assert sum(slept) > 60


def test_an_outcome_is_given_up_before_the_deadline(world: WorkerWorld) -> None:
    """The last try has its full time; later, the expired lease shows that the worker was lost."""
    working = world.store.transition
    world.remaining = 30
    slept = outage(world, 1000)
    with pytest.raises(DependencyUnavailable):
        world.run(succeed)
    assert world.remaining >= bounds.AWS_CALL_SECONDS
    assert slept == [0.5, 1, 2, 4, 8]
    assert world.job.status is JobStatus.RUNNING
    world.store.transition = working  # type: ignore[method-assign]  # end of the outage
    world.clock.advance(LEASE_SECONDS)
    world.sweep()
    assert (world.job.status, world.job.attempts) == (JobStatus.PENDING, 1)


def test_an_outcome_is_not_repeated_past_the_lease(world: WorkerWorld) -> None:
    world.remaining = 100_000.0
    outage(world, 1000)
    began = world.clock()
    with pytest.raises(DependencyUnavailable):
        world.run(succeed)
    assert (world.clock() - began).total_seconds() < limits.LEASE_MAX_SECONDS


def test_an_outcome_near_the_end_of_the_lease_is_not_repeated_past_it(world: WorkerWorld) -> None:
    """The handler used most of the lease; tries and deadline would allow two minutes more."""
    world.remaining = 100_000.0
    outage(world, 1000)
    began = world.clock()
    tried: list[float] = []
    failing = world.store.transition

    def noted(*given: Any, **named: Any) -> int:
        tried.append((world.clock() - began).total_seconds())
        return failing(*given, **named)

    world.store.transition = noted  # type: ignore[method-assign]  # observed

    def slow(_: Context) -> Mapping[str, Any]:
        world.clock.advance(limits.LEASE_MAX_SECONDS - 20)
        return {}

    with pytest.raises(DependencyUnavailable):
        world.run(slow)
    assert len(tried) > 1
    assert max(tried) < limits.LEASE_MAX_SECONDS


def test_a_claim_that_was_taken_over_in_an_outage_writes_nothing(
    world: WorkerWorld, caplog: pytest.LogCaptureFixture
) -> None:
    outage(world, 1)
    sleeping = world.sleep

    def overtaken(seconds: float) -> None:
        sleeping(seconds)
        world.clock.advance(LEASE_SECONDS)
        world.sweep()
        world.clock.advance(-LEASE_SECONDS)

    world.sleep = overtaken  # type: ignore[method-assign]  # the claim is taken over meanwhile
    job = world.run(succeed)
    assert (job.status, job.attempts, job.fence) == (JobStatus.PENDING, 1, 2)
    assert "lease_lost" in caplog.text

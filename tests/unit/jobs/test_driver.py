"""Effects of an execution's steps on their job, and the claims that the driver accepts."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from spinneret.jobs.control import JobControl
from spinneret.jobs.driven.driving import Driver
from spinneret.jobs.driven.models import ExecutionClaim
from spinneret.jobs.driven.starting import Starter
from spinneret.jobs.models import Failure, Job, JobRef, JobStatus, Transition
from spinneret.kernel import bounds
from spinneret.kernel.errors import LeaseLost
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.time import HandClock
from tests.kinds import KINDS
from tests.unit.jobs.worker_world import WorkerWorld

MARGIN = timedelta(seconds=bounds.LEASE_MARGIN_SECONDS)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def driver(store: FakeJobStore, queue: FakeJobQueue, clock: HandClock) -> Driver:
    return Driver(store=store, queue=queue, kinds=KINDS, clock=clock, random=lambda: 0.5)


class _Executions:
    """A fake of Executions that keeps the state of the last start."""

    state: Mapping[str, Any]

    def start(self, name: str, state: Mapping[str, Any]) -> None:
        self.state = state


def begun(world: WorkerWorld) -> ExecutionClaim:
    """Return the first step of an execution that a worker has started."""
    executions = _Executions()
    world.run(Starter(executions=executions, prepare=lambda _: None))
    started = ExecutionClaim.of(executions.state)
    return replace(started, number=started.number + 1)


@pytest.fixture
def claim(world: WorkerWorld) -> ExecutionClaim:
    return begun(world)


def test_only_the_claim_that_holds_the_job_goes_on(
    driver: Driver, claim: ExecutionClaim, control: JobControl, world: WorkerWorld
) -> None:
    assert driver.held(claim) == world.job
    for other in (
        replace(claim, owner="another"),
        replace(claim, fence=claim.fence - 1),
        replace(claim, fence=claim.fence + 1),
        replace(claim, job_id="job_unknown"),
    ):
        with pytest.raises(LeaseLost):
            driver.held(other)
    control.move(world.ref, Transition.PAUSE)
    with pytest.raises(LeaseLost):
        driver.held(claim)


def test_a_renewal_holds_the_job_a_margin_longer_than_its_step_needs(
    driver: Driver, claim: ExecutionClaim, world: WorkerWorld
) -> None:
    until = world.clock() + 3 * MINUTE
    driver.renew(claim, driver.held(claim), until, "fetching", 20, {})
    assert (world.job.locked_until, world.job.step) == (until + MARGIN, "fetching")


def test_progress_never_goes_back_and_is_complete_only_at_the_end(
    driver: Driver, claim: ExecutionClaim, world: WorkerWorld
) -> None:
    shown = []
    for number, progress in enumerate((10, 5, 60, 60, 100), start=claim.number):
        turn = replace(claim, number=number)
        driver.renew(turn, driver.held(turn), world.clock() + MINUTE, "fetching", progress, {})
        shown.append(world.job.progress)
    assert shown == [10, 10, 60, 60, 99]


def test_a_segment_that_gets_on_is_not_charged_for_executions_that_were_lost(
    driver: Driver, claim: ExecutionClaim, world: WorkerWorld
) -> None:
    assert world.job.locked_until is not None
    world.clock.now = world.job.locked_until + timedelta(seconds=bounds.CLOCK_SKEW_SECONDS)
    again = begun(world)
    assert (again.fence > claim.fence, world.job.attempts) == (True, 1)
    driver.renew(again, driver.held(again), world.clock() + MINUTE, "fetching", 20, {})
    assert world.job.attempts == 0


@pytest.mark.parametrize("seconds", [-30, 0, 30])
def test_a_lease_is_never_shortened(
    seconds: int, driver: Driver, claim: ExecutionClaim, world: WorkerWorld
) -> None:
    before = world.job.locked_until
    assert before is not None
    wanted = before + timedelta(seconds=seconds)
    driver.extend(claim, wanted)
    assert world.job.locked_until == max(before, wanted)


class OvertakenStore(FakeJobStore):
    """A store in which another step extends the lease to `ends` just after the next read."""

    ends: datetime | None = None

    def get(self, ref: JobRef) -> Job | None:
        job = super().get(ref)
        if job is not None and self.ends is not None:
            self.transition(job, replace(job, locked_until=self.ends))
            self.ends = None
        return job


@pytest.mark.parametrize("is_renewed", [False, True])
def test_a_step_does_not_shorten_a_lease_that_another_one_has_just_extended(
    is_renewed: bool, queue: FakeJobQueue, clock: HandClock
) -> None:
    store = OvertakenStore()
    world = WorkerWorld(store, queue, clock)
    driver = Driver(store=store, queue=queue, kinds=KINDS, clock=clock, random=lambda: 0.5)
    claim = begun(world)
    store.ends = later = clock() + 9 * MINUTE
    if is_renewed:
        driver.renew(claim, driver.held(claim), clock() + 3 * MINUTE, "fetching", 20, {})
        assert (world.job.step, world.job.progress) == ("fetching", 20)
    else:
        driver.extend(claim, clock() + 8 * MINUTE)
    assert world.job.locked_until == later


def test_a_step_overwrites_no_event_of_the_worker_that_started_the_execution(
    driver: Driver, claim: ExecutionClaim, world: WorkerWorld
) -> None:
    before = world.timeline
    driver.renew(claim, driver.held(claim), world.clock() + MINUTE, "fetching", 20, {})
    assert world.timeline == [*before, (claim.fence, "step_started", "fetching")]


def test_a_job_goes_on_in_its_next_segment_however_long_it_has_worked(
    driver: Driver, claim: ExecutionClaim, world: WorkerWorld, queue: FakeJobQueue
) -> None:
    world.clock.advance(2 * bounds.JOB_WORK_SECONDS)
    driver.next_segment(claim, driver.held(claim))
    assert (world.job.status, world.job.attempts) == (JobStatus.PENDING, 0)
    assert [sent.ref for sent in queue.sent] == [world.ref]


def test_a_job_that_ends_lacking_something_says_what(
    driver: Driver, claim: ExecutionClaim, world: WorkerWorld
) -> None:
    lack = Failure(code="PAGES_FAILED", message="two pages failed", type="permanent")
    driver.complete(claim, driver.held(claim), {"n": 1}, lack)
    assert (world.job.status, world.job.last_error) == (JobStatus.PARTIALLY_FAILED, lack)

"""Jobs of suspended tenants wait, and continue later without a loss (T-07)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.driven.driving import Driver
from spinneret.jobs.models import JobStatus
from spinneret.jobs.worker import Context
from spinneret.kernel import bounds
from spinneret.kernel.errors import LeaseLost
from tests import factories
from tests.fakes.jobs import Sent
from tests.kinds import CRAWL_NORMAL, KINDS
from tests.unit.jobs.test_driver import begun
from tests.unit.jobs.worker_world import WorkerWorld, raising, succeed


def hold(world: WorkerWorld) -> None:
    world.store.held[world.ref.tenant] = world.clock()


# covers T-07
def test_a_job_of_a_suspended_tenant_is_not_claimed_and_waits_longer_each_time(
    world: WorkerWorld,
) -> None:
    hold(world)
    waits = []
    for _ in range(9):
        job = world.run(raising(AssertionError("ran")))
        assert (job.status, job.fence, job.attempts) == (JobStatus.PENDING, 0, 0)
        wait = (job.due_at - world.clock()).total_seconds()
        assert world.queue.take() == [Sent(CRAWL_NORMAL, job.ref, int(wait))]
        waits.append(wait)
        world.clock.now = job.due_at
    assert waits == [15, 15, 30, 60, 120, 240, 480, 900, 900]
    world.store.held.clear()
    assert world.run(succeed).status is JobStatus.COMPLETED


def test_a_duplicate_message_of_a_held_job_changes_nothing(world: WorkerWorld) -> None:
    hold(world)
    first = world.run(succeed)
    world.queue.take()
    assert world.run(succeed) == first
    assert world.queue.take() == []


def test_a_running_job_is_handed_back_at_its_next_checkpoint(world: WorkerWorld) -> None:
    def work(context: Context) -> Mapping[str, Any]:
        hold(world)
        context.checkpoint("half", 50)
        raise AssertionError("it continued")

    job = world.run(work)
    assert (job.status, job.attempts) == (JobStatus.PENDING, 0)
    world.store.held.clear()
    assert world.run(succeed).status is JobStatus.COMPLETED


def test_an_execution_ends_at_its_next_step_and_the_job_waits(world: WorkerWorld) -> None:
    claim = begun(world)
    driver = Driver(
        store=world.store,
        queue=world.queue,
        kinds=KINDS,
        clock=world.clock,
        random=lambda: 0.5,
    )
    hold(world)
    with pytest.raises(LeaseLost):
        driver.renew(claim, world.job, world.clock() + timedelta(minutes=1), "more", 50, {})
    assert world.job.status is JobStatus.PENDING
    with pytest.raises(LeaseLost):
        driver.held(claim)


@pytest.mark.parametrize(
    ("lasted", "wait"),
    [(-10, 15), (0, 15), (100, 100), (5000, bounds.SQS_MAX_DELAY_SECONDS)],
)
def test_the_expiry_of_a_held_job_moves_along(lasted: float, wait: float) -> None:
    now = factories.job().created_at + timedelta(hours=3)
    job = replace(factories.job(), expires_at=now + timedelta(seconds=7))
    after = rules.put_off(job, now - timedelta(seconds=lasted), now)
    assert after.due_at == now + timedelta(seconds=wait)
    assert after.expires_at == now + timedelta(seconds=7 + wait)
    assert (after.sends, after.status) == (1, JobStatus.PENDING)


def test_a_suspension_uses_up_none_of_the_time_that_a_job_may_wait() -> None:
    now, ahead = factories.job().created_at + timedelta(hours=3), timedelta(minutes=15)
    job = replace(factories.job(), deferred_since=now, waiting_since=now)
    after = rules.put_off(job, now - ahead, now)
    assert (after.deferred_since, after.waiting_since) == (now + ahead, now + ahead)

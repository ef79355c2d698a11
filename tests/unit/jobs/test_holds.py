"""Work of suspended tenants waits, and goes on without a loss (T-07)."""

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
from tests.unit.jobs.worker_bench import Bench, raising, succeed


def hold(bench: Bench) -> None:
    bench.store.held[bench.ref.tenant] = bench.clock()


# covers T-07
def test_a_job_of_a_suspended_tenant_is_not_claimed_and_waits_longer_each_time(
    bench: Bench,
) -> None:
    hold(bench)
    waits = []
    for _ in range(9):
        job = bench.run(raising(AssertionError("ran")))
        assert (job.status, job.fence, job.attempts) == (JobStatus.PENDING, 0, 0)
        wait = (job.due_at - bench.clock()).total_seconds()
        assert bench.queue.take() == [Sent(CRAWL_NORMAL, job.ref, int(wait))]
        waits.append(wait)
        bench.clock.now = job.due_at
    assert waits == [15, 15, 30, 60, 120, 240, 480, 900, 900]
    bench.store.held.clear()
    assert bench.run(succeed).status is JobStatus.COMPLETED


def test_a_duplicate_message_of_a_held_job_changes_nothing(bench: Bench) -> None:
    hold(bench)
    first = bench.run(succeed)
    bench.queue.take()
    assert bench.run(succeed) == first
    assert bench.queue.take() == []


def test_a_running_job_is_handed_back_at_its_next_checkpoint(bench: Bench) -> None:
    def work(context: Context) -> Mapping[str, Any]:
        hold(bench)
        context.checkpoint("half", 50)
        raise AssertionError("went on")

    job = bench.run(work)
    assert (job.status, job.attempts) == (JobStatus.PENDING, 0)
    bench.store.held.clear()
    assert bench.run(succeed).status is JobStatus.COMPLETED


def test_an_execution_ends_at_its_next_step_and_the_job_waits(bench: Bench) -> None:
    claim = begun(bench)
    driver = Driver(
        store=bench.store,
        queue=bench.queue,
        kinds=KINDS,
        clock=bench.clock,
        random=lambda: 0.5,
    )
    hold(bench)
    with pytest.raises(LeaseLost):
        driver.renew(claim, bench.job, bench.clock() + timedelta(minutes=1), "more", 50, {})
    assert bench.job.status is JobStatus.PENDING
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

"""Deferrals aren't charged as attempts, and they end at a limit."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.control import JobControl
from spinneret.jobs.models import Job, JobStatus, Reply, Transition
from spinneret.jobs.service import JobService
from spinneret.jobs.sweeper import Sweeper
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable
from tests import factories
from tests.fakes.jobs import FakeJobQueue, FakeJobStore, no_parent
from tests.fakes.time import START, HandClock
from tests.kinds import KINDS
from tests.metrics import recorded
from tests.unit.jobs.worker_world import WorkerWorld, raising, succeed

LIMIT = bounds.JOB_PENDING_SECONDS
HOUR = timedelta(hours=1)


def waiting(context: Context) -> Mapping[str, Any]:
    raise Defer(context.job.due_at + HOUR, "site.example")


def next_turn(world: WorkerWorld) -> datetime:
    world.clock.now = world.job.due_at
    return world.clock.now


def wait_until(world: WorkerWorld, moment: datetime) -> Job:
    """Defer the job again and again until `moment`."""
    while world.job.due_at < moment:
        next_turn(world)
        world.run(waiting)
    return world.job


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_job_that_nobody_begins_expires(
    kind: str, service: JobService, store: FakeJobStore, queue: FakeJobQueue, clock: HandClock
) -> None:
    """Every kind limits the time that a job may be pending."""
    policy = KINDS[kind]
    assert policy.pending_seconds is not None
    placed: list[Job] = []

    def answer(jobs: Any) -> Reply:
        placed.append(jobs[0].job)
        return factories.reply()

    service.submit("acme", [factories.draft(kind=kind)], None, answer)
    sweeper = Sweeper(
        store=store,
        queue=queue,
        kinds=KINDS,
        clock=clock,
        look_at_parent=no_parent,
    )
    clock.advance(policy.pending_seconds - 1)
    assert sweeper.sweep().expired == 0
    clock.advance(1)
    assert sweeper.sweep().expired == 1
    ended = store.get(placed[0].ref)
    assert ended is not None
    assert (ended.status, ended.attempts) == (JobStatus.EXPIRED, 0)


def test_polite_waits_end_after_a_week(world: WorkerWorld) -> None:
    job = wait_until(world, START + timedelta(seconds=LIMIT) - HOUR)
    assert (job.status, job.attempts, job.expires_at) == (
        JobStatus.PENDING,
        0,
        START + timedelta(seconds=LIMIT),
    )
    world.clock.now = START + timedelta(seconds=LIMIT)
    assert world.run(raising(AssertionError("ran"))).status is JobStatus.PENDING
    world.sweep()
    ended = world.job
    assert (ended.status, ended.waiting_for) == (JobStatus.EXPIRED, None)
    assert ended.last_error is not None
    assert (ended.last_error.code, ended.last_error.type) == ("EXPIRED", "expired")
    assert ended.last_error.message == "no slot in time: site.example"


def test_a_turn_that_comes_in_time_ends_the_wait(world: WorkerWorld) -> None:
    wait_until(world, START + timedelta(days=6))
    next_turn(world)
    assert world.run(succeed).status is JobStatus.COMPLETED


def test_faults_of_our_own_do_not_begin_the_week_anew(world: WorkerWorld) -> None:
    world.run(waiting)
    for _ in range(6):
        next_turn(world)
        world.run(raising(DependencyUnavailable("s3")))
        assert world.job.expires_at is None
        world.clock.advance(24 * 3600)
        world.run(waiting)
    assert world.job.expires_at == START + timedelta(seconds=LIMIT)


def test_a_job_that_was_claimed_does_not_expire_while_it_works(world: WorkerWorld) -> None:
    world.run(waiting)
    next_turn(world)

    def handler(_: Context) -> Mapping[str, Any]:
        assert world.job.expires_at is None
        return {}

    assert world.run(handler).status is JobStatus.COMPLETED


def test_a_pause_lifts_the_limit_and_the_next_wait_sets_it_anew(
    world: WorkerWorld, control: JobControl
) -> None:
    world.run(waiting)
    control.move(world.ref, Transition.PAUSE)
    assert (world.job.expires_at, world.job.deferred_since) == (None, None)
    world.clock.advance(2 * LIMIT)
    control.move(world.ref, Transition.RESUME)
    resumed = world.clock()
    world.run(waiting)
    assert world.job.expires_at == resumed + timedelta(seconds=LIMIT)


def test_a_new_run_has_a_week_of_its_own() -> None:
    failed = factories.job(status=JobStatus.FAILED, deferred_since=START)
    assert rules.retry(failed, START + HOUR).deferred_since is None


@pytest.mark.parametrize(("seconds", "waits"), [(59, True), (60, False), (61, False)])
def test_a_last_look_that_can_not_go_on_in_time_expires_at_once(seconds: int, waits: bool) -> None:
    minute, until = START + timedelta(seconds=60), START + timedelta(seconds=seconds)
    job = factories.running_job(minute, deferred_since=START, ending=True)
    after = rules.defer(job, until, "site.example", START, 60)
    assert after.expires_at == (minute if waits else START)


def test_a_kind_without_a_limit_waits_for_ever() -> None:
    running = factories.running_job(START + HOUR)
    after = rules.defer(running, START + 1000 * HOUR, "site.example", START)
    assert after.expires_at is None


def test_an_appointed_wait_expires_after_its_moment_not_before_it(world: WorkerWorld) -> None:
    midnight = world.clock() + timedelta(seconds=3 * LIMIT)

    def appointed(_: Context) -> Mapping[str, Any]:
        raise Defer(midnight, "the next day", appointed=True)

    world.run(appointed)
    assert world.job.due_at == midnight
    limit = midnight + timedelta(seconds=LIMIT)
    assert world.job.expires_at == limit
    next_turn(world)
    world.run(waiting)
    assert world.job.expires_at == limit  # later waits without a known end count from there


# covers P-12
def test_a_deferral_is_counted(world: WorkerWorld) -> None:
    recorded()
    world.run(waiting)
    assert recorded() == {"jobs_deferred": [1]}

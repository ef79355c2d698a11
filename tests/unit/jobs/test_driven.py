"""A worker passes its claim to an execution; `test_simulation` runs such jobs to their end."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs.driven.driving import Driver
from spinneret.jobs.driven.models import ExecutionClaim
from spinneret.jobs.driven.starting import Starter
from spinneret.jobs.models import JobStatus, Transition
from spinneret.jobs.worker import Context
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable
from tests.fakes.deep_crawling import FakeExecutions
from tests.kinds import KINDS
from tests.metrics import recorded
from tests.unit.jobs.parent_world import POLICIES, ParentWorld
from tests.unit.jobs.worker_world import WorkerWorld


class _Executions:
    """A fake of Executions that records the job's lease at each start."""

    def __init__(self, world: WorkerWorld, error: Exception | None = None) -> None:
        self._bench = world
        self._error = error
        self.begun: list[tuple[str, Any]] = []
        self.states: list[Mapping[str, Any]] = []

    def start(self, name: str, state: Mapping[str, Any]) -> None:
        job = self._bench.store.get(self._bench.ref)
        assert job is not None
        self.begun.append((name, job.locked_until))
        self.states.append(state)
        if self._error is not None:
            raise self._error


def test_the_claim_is_kept_for_the_execution_before_it_begins(world: WorkerWorld) -> None:
    executions = _Executions(world)
    now = world.clock()
    job = world.run(Starter(executions=executions, prepare=lambda _: None))
    until = now + timedelta(seconds=bounds.EXECUTION_START_SECONDS)
    assert executions.begun == [(f"{job.id}-{job.fence}", until)]
    assert (job.status, job.locked_until) == (JobStatus.RUNNING, until)


def test_an_execution_that_could_not_be_started_is_started_later_uncharged(
    world: WorkerWorld,
) -> None:
    executions = _Executions(world, DependencyUnavailable("stepfunctions"))
    job = world.run(Starter(executions=executions, prepare=lambda _: None))
    assert (job.status, job.attempts, job.locked_by) == (JobStatus.PENDING, 0, None)


def driver_of(world: WorkerWorld | ParentWorld) -> Driver:
    return Driver(
        store=world.store,
        queue=world.queue,
        kinds={**KINDS, **POLICIES},
        clock=world.clock,
        random=lambda: 0.5,
    )


def next_turn(executions: _Executions) -> ExecutionClaim:
    """Return the first step of the execution that was started last."""
    turn = ExecutionClaim.of(executions.states[-1])
    return replace(turn, number=turn.number + 1)


def renewed(world: WorkerWorld | ParentWorld, turn: ExecutionClaim, progress: int) -> None:
    driver = driver_of(world)
    driver.renew(turn, driver.held(turn), world.clock(), "step", progress, {})


def test_the_events_of_an_execution_follow_those_of_its_worker(world: WorkerWorld) -> None:
    executions = _Executions(world)

    def prepare(context: Context) -> None:
        for number in range(3):
            context.checkpoint(f"page {number}", 0)

    world.run(Starter(executions=executions, prepare=prepare))
    before = world.store.events(world.ref, None, 99)
    renewed(world, next_turn(executions), 1)
    events = world.store.events(world.ref, None, 99)
    assert events[: len(before)] == before
    assert [event.message for event in events[len(before) :]] == ["step"]


class _LosesAnswers(_Executions):
    """A fake of Executions that starts one, runs its first step, then raises an outage."""

    def start(self, name: str, state: Mapping[str, Any]) -> None:
        super().start(name, state)
        renewed(self._bench, next_turn(self), 7)
        raise DependencyUnavailable("stepfunctions")


def test_a_worker_that_missed_the_start_leaves_the_claim_to_the_execution(
    world: WorkerWorld,
) -> None:
    executions = _LosesAnswers(world)
    job = world.run(Starter(executions=executions, prepare=lambda _: None))
    assert (job.status, job.step, job.progress) == (JobStatus.RUNNING, "step", 7)
    messages = [event.message for event in world.store.events(world.ref, None, 99)]
    assert messages[-2:] == ["running", "step"]


def test_an_execution_writes_over_no_event_of_a_worker_that_went_through_many_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("spinneret.jobs.children._PAGE", 10)
    scenario = ParentWorld(25, lambda _: True)
    scenario.settle()
    scenario.clock.advance(60.0)
    scenario.move(scenario.parent, Transition.RETRY)
    executions = FakeExecutions()
    scenario.lead = lambda children: Starter(executions=executions, prepare=children.begin_again)
    scenario.deliver()
    before = scenario.store.events(scenario.parent, None, 999)
    assert [event.message for event in before].count("children") > 1
    [state] = executions.started.values()
    turn = ExecutionClaim.of(state)
    renewed(scenario, replace(turn, number=turn.number + 1), 1)
    events = scenario.store.events(scenario.parent, None, 999)
    assert events[: len(before)] == before
    assert [event.message for event in events[len(before) :]] == ["step"]


@pytest.mark.parametrize(
    ("progress", "status"),
    [((10, 10, 10), JobStatus.FAILED), ((10, 20, 30), JobStatus.PENDING)],
    ids=["stuck", "getting on"],
)
def test_a_segment_that_kills_its_executions_fails_unless_it_gets_on(
    world: WorkerWorld, progress: Sequence[int], status: JobStatus
) -> None:
    executions = _Executions(world)
    for reached in progress:
        world.run(Starter(executions=executions, prepare=lambda _: None))
        renewed(world, next_turn(executions), reached)
        world.clock.advance(bounds.EXECUTION_START_SECONDS)
        world.sweep()
    assert world.job.status is status


def test_a_finished_segment_forgets_its_lost_executions(world: WorkerWorld) -> None:
    executions = _Executions(world)
    recorded()
    world.run(Starter(executions=executions, prepare=lambda _: None))
    assert "executions_restarted" not in recorded()
    world.clock.advance(2 * bounds.EXECUTION_START_SECONDS)
    world.sweep()
    assert world.job.attempts == 1
    world.run(Starter(executions=executions, prepare=lambda _: None))
    assert recorded()["executions_restarted"] == [1]
    turn = next_turn(executions)
    driver_of(world).next_segment(turn, driver_of(world).held(turn))
    assert (world.job.status, world.job.attempts) == (JobStatus.PENDING, 0)

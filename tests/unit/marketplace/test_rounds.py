"""Rounds of a batch: the choice of the next jobs, waits, and the end of executions."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs.models import Job, JobRef, JobStatus, Transition
from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from spinneret.kernel.paging import Page
from spinneret.marketplace import limits
from spinneret.marketplace import limits as marketplace_limits
from tests.markets.world import MarketWorld

LEASE = timedelta(seconds=limits.PUBLISH_ROUND_SECONDS + bounds.LEASE_MARGIN_SECONDS)


class Round:
    """A batch whose execution has begun, with the step that chooses its next jobs."""

    def __init__(self, world: MarketWorld, jobs: int) -> None:
        self.world = world
        ids = [world.product(f"Coat {number}").id for number in range(jobs)]
        self.batch = world.submit_batch("publish", "ebay", ids)
        world.dispatch(self.batch)
        [self.state] = world.executions.started.values()
        self.jobs = list(world.store.children(self.batch, list(JobStatus), None, 100).items)

    def take(self, **given: Any) -> dict[str, Any]:
        """Run one step; the next call continues from its result."""
        state = {**self.state, **given}
        answer = self.world.next_jobs().take(state, lambda: self.world.remaining)
        self.state = {**answer, "visits": []}
        return answer

    def change(self, ref: JobRef, change: Callable[[Job], Job]) -> None:
        """Change a job of the batch, as another process would."""
        before = self.world.job(ref)
        self.world.store.transition(before, change(before))

    def hide(self, *hidden: JobRef) -> None:
        """Hide these jobs from the index of children, as if it lagged."""
        children = self.world.store.children

        def lagging(*given: Any) -> Page[JobRef]:
            page = children(*given)
            return replace(page, items=tuple(ref for ref in page.items if ref not in hidden))

        self.world.store.children = lagging


@pytest.mark.parametrize("paused", [0, 1, 2])
def test_a_lagging_index_ends_no_round(paused: int, memory: MarketWorld) -> None:
    this = Round(memory, 3)
    for ref in this.jobs[:paused]:
        memory.control.move(ref, Transition.PAUSE)
    this.hide(*this.jobs[paused:])
    answer = this.take()
    soon = memory.clock() + timedelta(seconds=2)
    assert (answer["action"], answer["until"]) == ("wait", to_iso(soon))
    assert memory.job(this.batch).locked_until == memory.clock() + LEASE


@pytest.mark.parametrize(
    ("due", "waits"), [((0.2, 50), 1), ((20, 50), 20), ((50, 20), 20), ((90, 200), 60)]
)
def test_a_round_waits_for_the_next_job_that_is_due(
    due: tuple[float, float], waits: float, memory: MarketWorld
) -> None:
    this = Round(memory, 2)
    for ref, seconds in zip(this.jobs, due, strict=True):
        moment = memory.clock() + timedelta(seconds=seconds)
        this.change(ref, lambda job, moment=moment: replace(job, due_at=moment))
    answer = this.take()
    until = to_iso(memory.clock() + timedelta(seconds=waits))
    assert (answer["action"], answer["until"]) == ("wait", until)
    assert memory.job(this.batch).locked_until == memory.clock() + LEASE


def test_a_round_leaves_jobs_to_their_workers_and_takes_those_of_lost_ones(
    memory: MarketWorld,
) -> None:
    this = Round(memory, 2)
    for ref, seconds in zip(this.jobs, (30, 300), strict=True):
        memory.store.claim(ref, "one", memory.clock(), memory.clock() + timedelta(seconds=seconds))
    answer = this.take()
    look = memory.clock() + timedelta(seconds=limits.PUBLISH_LOOK_SECONDS)
    assert (answer["action"], answer["until"]) == ("wait", to_iso(look))
    memory.clock.advance(30 + bounds.CLOCK_SKEW_SECONDS)
    assert this.take()["jobs"] == [this.jobs[0].job_id]


def test_a_round_leaves_jobs_that_waited_too_long_to_the_sweeper(memory: MarketWorld) -> None:
    this = Round(memory, 1)
    memory.clock.advance(marketplace_limits.MARKETPLACE_PENDING_SECONDS)
    held = memory.job(this.batch)
    memory.store.transition(held, replace(held, locked_until=memory.clock() + LEASE))
    assert this.take()["action"] == "wait"


def test_every_round_begins_after_the_last_job_of_the_one_before(memory: MarketWorld) -> None:
    memory.round_jobs = 2
    this = Round(memory, 3)
    first, second, third = (ref.job_id for ref in this.jobs)
    assert [this.take()["jobs"] for _ in range(3)] == [
        [first, second],
        [third, first],
        [second, third],
    ]


def test_a_message_starts_a_job_once_the_execution_of_its_batch_is_lost(
    memory: MarketWorld,
) -> None:
    this = Round(memory, 1)
    end, started = memory.job(this.batch).locked_until, []
    assert end is not None
    for moment in (end - timedelta(seconds=1), end):
        memory.clock.now = moment
        memory.dispatch(*this.jobs)
        started.append(len(memory.executions.started))
    assert started == [1, 2]  # execution 1 is the batch's own


def test_a_round_takes_all_that_is_due_again(memory: MarketWorld) -> None:
    this = Round(memory, 3)
    everything = [ref.job_id for ref in this.jobs]
    assert [this.take()["jobs"] for _ in range(2)] == [everything, everything]


def test_every_step_adds_a_line_to_the_timeline_of_the_batch(memory: MarketWorld) -> None:
    this = Round(memory, 1)
    before = memory.store.events(this.batch, None, 99)
    for _ in range(2):
        this.take()
    [*others, one, two] = memory.store.events(this.batch, None, 99)
    assert (others, one.message, two.message) == (before, "1 jobs", "1 jobs")


@pytest.mark.parametrize(
    ("steps", "visits", "action"),
    [(0, (), "jobs"), (9, (), "jobs"), (10, (), "stop"), (4, (3, 2), "jobs"), (4, (3, 3), "stop")],
)
def test_an_execution_stops_after_so_many_steps_of_its_own_and_of_its_jobs(
    steps: int, visits: tuple[int, ...], action: str, memory: MarketWorld
) -> None:
    memory.segment_steps = 10
    this = Round(memory, 1)
    counted = {"steps": steps, "visits": [{"steps": each} for each in visits]}
    assert this.take(**counted)["action"] == action
    single = memory.submit("publish", "ebay", memory.product())
    state = {"tenant": single.tenant, "job_id": single.job_id, **counted}
    assert memory.next_jobs().take(state, lambda: memory.remaining)["action"] == action


@pytest.mark.parametrize(("steps", "action"), [(0, "wait"), (18, "wait"), (19, "left")])
def test_a_visit_leaves_its_job_after_so_many_steps(
    steps: int, action: str, memory: MarketWorld
) -> None:
    memory.at_once, memory.plugin.mute = 1, True
    memory.once(memory.submit("publish", "vinted", memory.product()))
    waits = memory.submit("publish", "vinted", memory.product("Other"))
    state = {"tenant": waits.tenant, "job_id": waits.job_id, "turn": None, "steps": steps}
    answer = memory.job_step().step(state, lambda: memory.remaining)
    assert (answer["action"], answer["steps"]) == (action, steps + 1)


@pytest.mark.parametrize(("steps", "action"), [(0, "callback"), (1, "left")])
def test_a_visit_waits_once_for_a_browser_to_connect(
    steps: int, action: str, memory: MarketWorld
) -> None:
    memory.plugin.away = True
    ref = memory.submit("publish", "vinted", memory.product())
    state = {"tenant": ref.tenant, "job_id": ref.job_id, "turn": None, "steps": steps}
    assert memory.job_step().step(state, lambda: memory.remaining)["action"] == action

"""Ten minutes of a lane, with a one-minute outage of its store (F24)."""

from collections import Counter
from random import Random

import pytest

from spinneret.jobs.models import Job, JobStatus
from tests import factories
from tests.simulation.actors import Actors, Claim, Request
from tests.simulation.faults import CallOutcome, CrashPoints
from tests.simulation.run import actor_threads, silent_logs
from tests.simulation.turnstile import Actor
from tests.simulation.world import World

JOBS = 140
WORKERS = 4
TIMEOUT = 120.0
BEGIN, END = 200.0, 260.0
SWEEP_SECONDS = 60.0
CALLS_MOST = 1.2  # at most, as a factor of the calls that were needed: reliability, row F24


class Outage(CrashPoints):
    """An outage of the store, which `switch` starts and ends; the store's calls are counted."""

    def __init__(self) -> None:
        super().__init__({})
        self.is_on = False
        self.met: Counter[CallOutcome] = Counter()

    def switch(self) -> None:
        """Start or end the outage."""
        self.is_on = not self.is_on

    def fate_of(self, actor: Actor, call: str) -> CallOutcome:
        """See Faults."""
        if not call.startswith("store."):
            return CallOutcome.NONE
        fate = CallOutcome.UNAVAILABLE if self.is_on else CallOutcome.NONE
        self.met[fate] += 1
        return fate

    def is_down(self, service: str) -> bool:
        """See Faults."""
        return self.is_on and service == "store"


def work(claim: Claim) -> None:
    """Work for about 15 seconds with three checkpoints, and perform one effect."""
    for number in range(3):
        claim.work(5.0)
        claim.context.checkpoint(f"step {number}", 30 * (number + 1))
    claim.commit()


def jobs_of_a_lane(outage: Outage) -> list[Job]:
    """Run the jobs of a lane, check every invariant of a job, and return the jobs."""
    with silent_logs(), actor_threads() as threads:
        world = World(Random(1), outage, threads)
        actors = Actors(world, work, lambda: TIMEOUT)
        actors.workers_max = WORKERS
        for _ in range(JOBS):
            actors.request(
                Request(drafts=[factories.draft(duplicate_key=None)], key=None), lambda _: None
            )
        for moment in (BEGIN, END):
            world.after(moment, outage.switch)

        def is_over() -> bool:
            return not world.actors and not actors.flying and not world.invariants.unsettled()

        def sweep() -> None:
            if not is_over():
                actors.sweep()
                world.after(SWEEP_SECONDS, sweep)

        world.after(SWEEP_SECONDS, sweep)
        world.run(is_over)
    if not world.invariants.violations:
        world.invariants.at_end()
    assert not world.invariants.violations, world.invariants.violations
    stored = [world.store.get(ref) for ref in world.invariants.accepted]
    return [job for job in stored if job is not None]


@pytest.mark.heavy
def test_a_minute_without_a_store_loses_nothing_charges_nothing_and_asks_little() -> None:
    outage = Outage()
    jobs = jobs_of_a_lane(outage)
    assert [job.status for job in jobs] == [JobStatus.COMPLETED] * JOBS
    assert {(job.attempts, job.redrives) for job in jobs} == {(0, 0)}
    needed, in_vain = outage.met[CallOutcome.NONE], outage.met[CallOutcome.UNAVAILABLE]
    assert in_vain > 0
    assert needed + in_vain <= CALLS_MOST * needed

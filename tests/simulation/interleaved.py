"""The last two children of one parent, which end at the same time, interleaved at every call."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Final

from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobRef, JobStatus, ParentState
from spinneret.jobs.parents import ParentEnds
from spinneret.jobs.ports import Claimed, NewJob
from spinneret.jobs.publishing import PublishingJobStore
from tests import factories
from tests.fakes.jobs import FakeJobStore
from tests.fakes.time import START
from tests.simulation.faults import CrashPoints
from tests.simulation.policies import FAMILY, ONE_SERIES, POLICIES
from tests.simulation.stepped import SteppedStore
from tests.simulation.turnstile import Actor, Role
from tests.simulation.world import World

UNTIL: Final = START + timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """Result of one schedule: the parent's end and the violations."""

    parent: Job
    violations: tuple[str, ...]
    schedule: tuple[str, ...]


class _Schedule(CrashPoints):
    """Schedule without faults: moves the actors of its plan, then always the first ready one."""

    def __init__(self, plan: Sequence[int]) -> None:
        super().__init__({})
        self.moved: list[str] = []
        self.taken = list(plan)
        self.options: list[int] = []

    def stays(self) -> bool:
        """See Faults."""
        return False

    def choice(self, ready: Sequence[Actor]) -> Actor:
        """See Faults."""
        number = len(self.options)
        self.options.append(len(ready))
        if number == len(self.taken):
            self.taken.append(0)
        chosen = sorted(ready, key=lambda actor: actor.name)[self.taken[number]]
        self.moved.append(chosen.name)
        return chosen

    def next(self) -> list[int] | None:
        """Return the next plan, or None after the last one."""
        for number in reversed(range(len(self.taken))):
            if self.taken[number] + 1 < self.options[number]:
                return [*self.taken[:number], self.taken[number] + 1]
        return None


def every_schedule(
    threads: Executor, shards: Sequence[int], ends_of: Callable[..., ParentEnds] = ParentEnds
) -> Iterator[Ended]:
    """Run all interleavings of the ends of two children that have these counter shards."""
    plan: list[int] | None = []
    while plan is not None:
        schedule = _Schedule(plan)
        yield _follow(schedule, threads, shards, ends_of)
        plan = schedule.next()


def _follow(
    schedule: _Schedule,
    threads: Executor,
    shards: Sequence[int],
    ends_of: Callable[..., ParentEnds],
) -> Ended:
    store = FakeJobStore(POLICIES)
    world = World(Random(1), schedule, threads, store)
    parent, children = _awaiting(store, shards)
    for child in children:
        world.invariants.families.child_made(child.job)
        world.start(Role.WORKER, lambda actor, child=child: _end(world, actor, child, ends_of))  # type: ignore[misc]
    world.run(lambda: not world.actors)
    found = store.get(parent)
    assert found is not None
    return Ended(
        parent=found, violations=tuple(world.invariants.violations), schedule=tuple(schedule.moved)
    )


def _awaiting(store: FakeJobStore, shards: Sequence[int]) -> tuple[JobRef, list[Claimed]]:
    """Create a parent that awaits its children; each child is claimed by its own worker."""
    made = factories.job(kind=FAMILY, family=ParentState(shards=1 + max(shards)))
    store.submit([NewJob(job=made)], [factories.event()], None, factories.reply(), START)
    led = store.claim(made.ref, "parent's", START, UNTIL)
    assert isinstance(led, Claimed)
    jobs = [
        replace(
            factories.job(id=f"job_child_{number}", kind=ONE_SERIES),
            parent=made.id,
            parent_shard=shard,
        )
        for number, shard in enumerate(shards)
    ]
    sealed = replace(led.job, family=ParentState(shards=1 + max(shards), cursor=None))
    news = [NewJob(job=job) for job in jobs]
    events = [factories.event() for _ in jobs]
    store.add_children(led.job, sealed, news, events, lease=led.lease)
    store.transition(sealed, rules.await_children(sealed, START), lease=led.lease)
    claims = [store.claim(job.ref, f"owner of {job.id}", START, UNTIL) for job in jobs]
    return made.ref, [claim for claim in claims if isinstance(claim, Claimed)]


def _end(world: World, actor: Actor, child: Claimed, ends_of: Callable[..., ParentEnds]) -> None:
    actor.lease = child.lease
    store = PublishingJobStore(SteppedStore(world, actor))
    clock = world.clock_of(actor)
    store.listen(ends_of(store=store, clock=clock))
    after = rules.complete(child.job, {"fence": child.lease.fence}, clock())
    event = factories.event(fence=child.lease.fence, number=1)
    store.transition(child.job, after, [event], lease=child.lease)


def is_right(ended: Ended) -> bool:
    """Return whether the parent ended once and counted both children."""
    counted = (ended.parent.result or {}).get("completed_count")
    return ended.parent.status is JobStatus.COMPLETED and counted == 2 and not ended.violations

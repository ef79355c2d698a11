"""One job's path through the kernel, with processes that die at chosen calls."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Final

from spinneret.jobs.models import Job, JobRef, JobStatus, Transition
from spinneret.jobs.worker import Defer
from spinneret.kernel.errors import FetchTimeout, UrlBlocked
from tests import factories
from tests.fakes.crashes import Crash, Moment
from tests.simulation.actors import TENANT, Actors, Claim, Request, Work
from tests.simulation.faults import CrashPoints
from tests.simulation.world import World

TIMEOUT: Final = 60.0
SETTLE_SECONDS: Final = 3600.0
_FIRST: Final = 1  # the fence of a job's first claim


@dataclass(frozen=True, kw_only=True)
class Flow:
    """The work of a handler, the moves of a user, and the statuses in which the job may end."""

    work: Work
    moves: Mapping[float, Transition]
    """Seconds after the submission → the user's move at that time."""
    ends: frozenset[JobStatus]


@dataclass(frozen=True, kw_only=True)
class Followed:
    """Result of one flow."""

    jobs: tuple[Job, ...]
    calls: tuple[str, ...]
    """All calls in order, including those of the recovery."""
    crashes: int
    violations: tuple[str, ...]
    trace: str


def follow(flow: Flow, points: Mapping[int, Moment], threads: Executor) -> Followed:
    """Submit one job and let it run to its end, while the processes at `points` die."""
    faults = CrashPoints(points)
    world = World(Random(1), faults, threads)
    actors = Actors(world, flow.work, lambda: TIMEOUT)
    client = _Client(world, actors)
    client.ask()
    for seconds, move in flow.moves.items():
        world.after(seconds, _moving(world, actors, move))

    def is_over() -> bool:
        idle = not world.actors and not actors.flying
        moved = world.now > max(flow.moves, default=0.0) * 1_000_000
        return idle and moved and client.answered and not world.invariants.unsettled()

    def sweep() -> None:
        if not is_over():
            actors.sweep()
            world.after(60.0, sweep)

    world.after(60.0, sweep)
    world.after(SETTLE_SECONDS, lambda: world.invariants.violations.append("waits for ever"))
    world.run(is_over)
    world.invariants.at_end()
    stored = [world.store.get(ref) for ref in world.invariants.accepted]
    return Followed(
        jobs=tuple(job for job in stored if job is not None),
        calls=tuple(faults.calls),
        crashes=sum(number <= len(faults.calls) for number in points),
        violations=tuple(world.invariants.violations),
        trace="\n".join(map(str, world.trace)),
    )


class _Client:
    """Repeats its request under one Idempotency-Key until it is answered."""

    def __init__(self, world: World, actors: Actors) -> None:
        self.answered = False
        self._world = world
        self._actors = actors
        self._request = Request(
            drafts=[factories.draft(notify=("hook",))], key=factories.request_key()
        )

    def ask(self) -> None:
        self._actors.request(self._request, self._ended)

    def _ended(self, answered: bool) -> None:
        self.answered = answered
        if not answered:
            self._world.after(5.0, self.ask)


def _moving(world: World, actors: Actors, move: Transition) -> Callable[[], None]:
    unknown = JobRef(tenant=TENANT, job_id="job_unknown")
    return lambda: actors.move(next(iter(world.invariants.accepted), unknown), move)


def _completes(claim: Claim) -> None:
    claim.work(10.0)
    claim.context.checkpoint("fetch", 30)
    claim.commit()
    claim.work(10.0)
    claim.context.checkpoint("index", 60)


def _publishes(claim: Claim) -> None:
    claim.context.checkpoint("list", 30)
    claim.publish()
    claim.commit()


def _postpones(claim: Claim) -> None:
    if claim.context.lease.fence == _FIRST:
        raise Defer(claim.context.job.created_at + timedelta(seconds=40), "site.example")
    _completes(claim)


def _fails(claim: Claim) -> None:
    _completes(claim)
    raise UrlBlocked("not to be fetched")


def _waits(claim: Claim) -> None:
    if claim.context.lease.fence == _FIRST:
        raise FetchTimeout("too slow")
    _completes(claim)


def _is_handed_back(claim: Claim) -> None:
    if claim.context.lease.fence == _FIRST:
        claim.work(TIMEOUT - 12.0)
    _completes(claim)


def _loses_its_worker(claim: Claim) -> None:
    claim.context.checkpoint("fetch", 30)
    if claim.context.lease.fence == _FIRST:
        raise Crash("worker lost")
    _completes(claim)


def _kills_its_worker(claim: Claim) -> None:
    claim.context.checkpoint("fetch", 30)
    raise Crash("poison")


_COMPLETED: Final = frozenset({JobStatus.COMPLETED})

FLOWS: Final[Mapping[str, Flow]] = {
    "complete": Flow(work=_completes, moves={}, ends=_COMPLETED),
    "fail": Flow(work=_fails, moves={}, ends=frozenset({JobStatus.FAILED})),
    "fail and begin again": Flow(
        work=_fails, moves={120.0: Transition.RETRY}, ends=frozenset({JobStatus.FAILED})
    ),
    "side effect": Flow(work=_publishes, moves={}, ends=_COMPLETED),
    "postpone": Flow(work=_postpones, moves={}, ends=_COMPLETED),
    "wait": Flow(work=_waits, moves={}, ends=_COMPLETED),
    "hand back": Flow(work=_is_handed_back, moves={}, ends=_COMPLETED),
    "lose the worker": Flow(work=_loses_its_worker, moves={}, ends=_COMPLETED),
    "kill every worker": Flow(work=_kills_its_worker, moves={}, ends=frozenset({JobStatus.FAILED})),
    "cancel": Flow(
        work=_completes, moves={5.0: Transition.CANCEL}, ends=_COMPLETED | {JobStatus.CANCELLED}
    ),
    "pause and resume": Flow(
        work=_completes,
        moves={5.0: Transition.PAUSE, 25.0: Transition.RESUME},
        ends=_COMPLETED | {JobStatus.PAUSED},
    ),
}

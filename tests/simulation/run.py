"""Run the scenario of one seed and report on it."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from random import Random
from threading import Barrier

from spinneret.jobs.parents import ParentEnds
from spinneret.outbox.relay import Relay
from tests.fakes.jobs import FakeJobStore
from tests.simulation.expiry import Expiry
from tests.simulation.faults import CallOutcome, SeededFaults
from tests.simulation.scenario import Scenario
from tests.simulation.world import SECOND, Step, World

EXPIRING = 0.4  # share of seeds whose rows are purged
THREADS = 64  # more than the actors that live at once: requests, users, workers, a sweeper


@dataclass(frozen=True, kw_only=True)
class Report:
    """Report on the run of one seed."""

    seed: int
    steps: int
    jobs: int
    parents: int
    """Number of jobs that have children."""
    executions: int
    """Number of executions: segments of driven jobs."""
    crashes: int
    lost_answers: int
    duplicates: int
    lost_messages: int
    lease_losses: int
    reclaimed: int
    """Number of lost leases that workers ended."""
    repeated: int
    """Outcomes that were written again after their answer was lost."""
    expired: int
    in_doubt: int
    """Side effects that began with an earlier claim's record that has no result."""
    purged: int
    """Rows that TTL removed."""
    settle_seconds: float
    """Seconds from the last fault until everything had settled."""
    passes: int
    """Number of sweeps in that time."""
    violations: tuple[str, ...]
    trace: tuple[Step, ...]


def simulate(
    seed: int,
    threads: Executor | None = None,
    store: FakeJobStore | None = None,
    relay_of: Callable[..., Relay] = Relay,
    ends_of: Callable[..., ParentEnds] = ParentEnds,
) -> Report:
    """Run the scenario of a seed; the same seed gives the same scenario, step by step.

    `threads` avoids new threads for every seed; it must have THREADS of them. Tests pass a faulty
    `store`, `relay_of` or `ends_of`.
    """
    rng = Random(seed)
    faults = SeededFaults(rng)
    with silent_logs(), nullcontext(threads) if threads else actor_threads() as pool:
        world = World(rng, faults, pool, store)
        expiring = Random(f"expiry of {seed}")  # separate: changes no other choice of a seed
        expiry = Expiry(expiring, world) if expiring.random() < EXPIRING else None
        supplying = Random(f"supplies of {seed}")  # separate, too
        scenario = Scenario(rng, faults, world, relay_of, ends_of, expiry, supplying)
        if expiry is not None:
            expiry.look()
        scenario.run()
    invariants, over_at = world.invariants, world.now
    if expiry is not None and not invariants.violations:
        expiry.finish()
    if not invariants.violations:
        invariants.at_end()
    return Report(
        seed=seed,
        steps=world.counts["steps"],
        jobs=invariants.counts["jobs"],
        parents=invariants.counts["parents"],
        executions=world.counts["executions"],
        crashes=world.counts["crashes"],
        lost_answers=world.counts[CallOutcome.ANSWER_LOST] + world.counts[CallOutcome.TWICE],
        duplicates=world.counts["duplicates"],
        lost_messages=world.counts["lost messages"],
        lease_losses=invariants.counts["lease losses"],
        reclaimed=invariants.counts["taken back"],
        repeated=invariants.counts["repeated"],
        expired=invariants.counts["expired"],
        in_doubt=world.counts["in doubt"],
        purged=world.counts["purged"],
        settle_seconds=((scenario.settled_at or over_at) - (scenario.calm_at or 0)) / SECOND,
        passes=scenario.passes,
        violations=tuple(invariants.violations),
        trace=tuple(world.trace),
    )


def actor_threads() -> ThreadPoolExecutor:
    """Return a pool of started threads for the actors of successive worlds.

    All threads start now. An executor starts another one only if it counts no idle one, and it
    counts one too many if a thread becomes idle while work is submitted: an actor without a thread
    would wait for ever.
    """
    pool, all_started = ThreadPoolExecutor(THREADS), Barrier(THREADS)
    for _ in range(THREADS):
        pool.submit(all_started.wait)
    return pool


@contextmanager
def silent_logs() -> Iterator[None]:
    """Disable logging; simulated outages need no log lines."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)

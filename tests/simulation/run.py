"""One seed, one story, one report."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from tests.simulation.faults import SeededFaults
from tests.simulation.scenario import Story
from tests.simulation.world import SECOND, Step, World

THREADS = 64  # more than actors ever live at once: requests, users, workers, a sweeper


@dataclass(frozen=True, kw_only=True)
class Report:
    """What happened under one seed."""

    seed: int
    steps: int
    jobs: int
    crashes: int
    lost_answers: int
    duplicates: int
    lost_messages: int
    lease_losses: int
    settle_seconds: float
    """From the last fault to rest."""
    passes: int
    """Sweeps in that time."""
    violations: tuple[str, ...]
    trace: tuple[Step, ...]


def simulate(seed: int) -> Report:
    """Tell the story of a seed; the same seed gives the same story, step by step."""
    rng = Random(seed)
    faults = SeededFaults(rng)
    with silent_logs(), ThreadPoolExecutor(THREADS) as threads:
        world = World(rng, faults, threads)
        story = Story(rng, faults, world)
        story.tell()
    watch = world.watch
    if not watch.violations:
        watch.at_end()
    return Report(
        seed=seed,
        steps=world.counts["steps"],
        jobs=watch.counts["jobs"],
        crashes=world.counts["crashes"],
        lost_answers=world.counts["lost answers"],
        duplicates=world.counts["duplicates"],
        lost_messages=world.counts["lost messages"],
        lease_losses=watch.counts["lease losses"],
        settle_seconds=(world.now - (story.calm_at or world.now)) / SECOND,
        passes=story.passes,
        violations=tuple(watch.violations),
        trace=tuple(world.trace),
    )


@contextmanager
def silent_logs() -> Iterator[None]:
    """A simulated outage is no news."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)

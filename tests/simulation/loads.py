"""Loads for capacity runs: many small random ones and a large one."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Load:
    """Load of one run."""

    jobs: int
    per_minute: float
    """Submissions per minute."""
    pollers: int
    """Pollers per lane."""
    work_seconds: float
    """Seconds for which a poller is busy with a job, on average."""
    lost: float
    """Share of messages that never arrive."""
    late_copies: float
    """Share of messages that arrive a second time after 5 to 15 minutes."""
    index_lag: float
    """Seconds by which both indexes lag behind the rows."""
    call_seconds: float
    """Seconds of one call of the sweeper."""
    plans: Mapping[str, float]
    """Weights of the jobs' plans: plain, waits, dies, fails, host."""


def small_load(rng: Random) -> Load:
    """Return a load of a few jobs, with faults that differ from seed to seed."""
    return Load(
        jobs=rng.randint(3, 40),
        per_minute=rng.choice([2.0, 30.0, 1200.0]),
        pollers=rng.choice([1, 1, 2, 5]),
        work_seconds=rng.choice([0.5, 5.0, 60.0]),
        lost=rng.choice([0.0, 0.05, 0.3]),
        late_copies=rng.choice([0.0, 0.2]),
        index_lag=rng.choice([0.0, 1.0, 8.0]),
        call_seconds=rng.choice([0.005, 0.05]),
        plans={"plain": 4, "waits": rng.choice([0, 2]), "dies": 1, "fails": 1, "host": 2},
    )


LARGE: Final = Load(
    jobs=20_000,
    per_minute=1200.0,
    pollers=8,
    work_seconds=2.0,
    lost=0.01,
    late_copies=0.02,
    index_lag=2.0,
    call_seconds=0.02,
    plans={"plain": 970, "waits": 10, "dies": 10, "fails": 8, "host": 2},
)
"""A lane that drains 240 jobs a minute while one key submits 1,200."""

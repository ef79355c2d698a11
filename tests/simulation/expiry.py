"""TTL in the simulated world: expired rows disappear one by one, between any two steps.

A day of DynamoDB is a minute here: a job's row is kept for half an hour after its end. As in
production, that is longer than any process lives.
"""

from datetime import timedelta
from random import Random
from typing import Final

from spinneret.jobs import limits
from spinneret.kernel import bounds
from tests.fakes.jobs import StoredRow
from tests.simulation.world import SECOND, World

SCALE: Final = 60.0 / (24 * 3600)
LATE_SECONDS: Final = 48 * 3600 * SCALE
KEPT_SECONDS: Final = bounds.JOB_RETENTION_SECONDS * SCALE
OTHERS_KEPT_SECONDS: Final = KEPT_SECONDS + limits.OUTLIVES_ROW_SECONDS * SCALE
LOOK_SECONDS: Final = 20.0


class Expiry:
    """Removes each expired row at its own random time, and all remaining rows after a run."""

    def __init__(self, rng: Random, world: World) -> None:
        self._rng = rng
        self._world = world
        self._moments: dict[tuple[StoredRow, float], float] = {}
        """Times at which expired rows are removed."""
        world.store.kept = timedelta(seconds=KEPT_SECONDS)
        world.store.others_kept = timedelta(seconds=OTHERS_KEPT_SECONDS)

    def stormy_seconds(self, usual: float) -> float:
        """Return how long the phase with faults lasts: in some seeds until rows disappear."""
        return self._rng.choice([usual, 1.2 * OTHERS_KEPT_SECONDS, 2 * OTHERS_KEPT_SECONDS])

    def late_retries(self) -> list[float]:
        """Return times at which an owner resumes and retries jobs, as long as there are faults."""
        return [self._rng.uniform(0.0, 2 * OTHERS_KEPT_SECONDS) for _ in range(8)]

    def look(self) -> None:
        """Remove the rows that are due, and schedule the next removal."""
        self._remove()
        self._world.after(self._rng.uniform(0.1, LOOK_SECONDS), self.look)

    def finish(self) -> None:
        """Let time pass until every row has been removed."""
        end = self._world.now + round((OTHERS_KEPT_SECONDS + LATE_SECONDS) * SECOND)
        while self._world.now < end:
            self._world.now += round(LOOK_SECONDS * SECOND)
            self._remove()

    def _remove(self) -> None:
        now = self._world.at_now().timestamp()
        for row, moment in self._world.store.purgeable(self._world.at_now()).items():
            due = moment.timestamp()
            late = self._rng.uniform(0.0, LATE_SECONDS)
            if self._moments.setdefault((row, due), due + late) <= now:
                self._world.invariants.purged(row)
                self._world.store.remove(row)
                self._world.counts["purged"] += 1

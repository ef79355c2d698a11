"""Waits of requests for a job: for its end, and for its next events.

A poll reads the job's row. The pause between two polls doubles from POLL_FIRST_SECONDS to
POLL_CAP_SECONDS.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

from spinneret.jobs import limits, rules
from spinneret.jobs.models import Job, JobEvent, JobRef
from spinneret.jobs.ports import JobStore
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import NotFound
from spinneret.kernel.service import service


@service
class JobWaits:
    """Waits for the jobs of all tenants. All methods raise DependencyUnavailable."""

    store: JobStore
    clock: Clock
    sleep: Callable[[float], None]

    def end(self, ref: JobRef, until: datetime) -> Job | None:
        """Return the job once it is finished; None if it isn't at `until`."""
        for _ in self._polls(until):
            job = self.store.get(ref)
            if job is not None and job.status in rules.TERMINAL:
                return job
        return None

    def events(
        self, ref: JobRef, after: str | None, until: datetime, *kinds: str
    ) -> list[JobEvent] | None:
        """Return the events after `after` once there are any, or an empty list at `until`.

        Returns None at the end of the timeline: the job is finished and `after` was its last event.
        Raises NotFound, also for a job of none of the given kinds.
        """
        seen: Job | None = None
        for _ in self._polls(until):
            job = self.store.get(ref)
            if job is None or (kinds and job.kind not in kinds):
                raise NotFound("no such job")
            if job == seen:  # events are written together with the row
                continue
            found = self.store.events(ref, after, bounds.LIST_LIMIT_MAX)
            if found:
                return found
            if job.status in rules.TERMINAL:
                return None
            seen = job
        return []

    def _polls(self, until: datetime) -> Iterator[None]:
        """Yield at once, then after each pause, and a last time at `until`."""
        pause = limits.POLL_FIRST_SECONDS
        yield
        while (left := (until - self.clock()).total_seconds()) > 0:
            self.sleep(min(pause, left))
            yield
            pause = min(2 * pause, limits.POLL_CAP_SECONDS)

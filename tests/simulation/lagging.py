"""Past rows, for an index that lags some seconds behind its rows."""

from collections import defaultdict

from spinneret.jobs.models import Job, JobRef


class PastRows:
    """The rows at every earlier moment."""

    def __init__(self) -> None:
        self._written: defaultdict[JobRef, list[tuple[int, Job]]] = defaultdict(list)

    def wrote(self, now: int, job: Job | None) -> None:
        """Record that a row was written; `now` never decreases."""
        if job is not None:
            self._written[job.ref].append((now, job))

    def at(self, ref: JobRef, moment: int) -> Job | None:
        """Return the row at that moment, or None if there was none yet."""
        for written, job in reversed(self._written.get(ref, [])):
            if written <= moment:
                return job
        return None

    def is_newer(self, ref: JobRef, moment: int) -> bool:
        """Return whether the row was written after that moment."""
        written = self._written.get(ref)
        return bool(written) and written[-1][0] > moment

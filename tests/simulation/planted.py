"""Planted faults that the simulated runs must find."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobRef, JobStatus, Lane
from spinneret.jobs.parents import ParentEnds
from spinneret.jobs.ports import DuePage, DuePosition
from spinneret.jobs.sweeper import Sweeper, _Lost
from spinneret.outbox.relay import Relay, RelayResult
from tests.fakes.jobs import FakeJobStore, StoredRow
from tests.simulation.policies import DRIVEN


class ResendsFirst(Sweeper):
    """Resends messages before it wakes jobs, whether the lane has a backlog or not."""

    def _wake_all(self, this: Any) -> None:
        super()._resend_all(this)

    def _resend_all(self, this: Any) -> None:
        super()._wake_all(this)

    def _lost(self, lane: Lane, this: Any) -> Any:
        return _Lost(until=this.begun)


class SpacesAlways(Sweeper):
    """Waits longer after each loss of the same message, in every lane."""

    def _lost(self, lane: Lane, this: Any) -> Any:
        lost = super()._lost(lane, this)
        return lost and replace(lost, moment=rules.spaced_resend_at)


class NeverResends(Sweeper):
    """Never resends a lost message."""

    def _resend_all(self, this: Any) -> None:
        """Do nothing."""


class LosesEvents(FakeJobStore):
    """Writes the end of a lost worker's job without its event."""

    def transition(
        self, before: Any, after: Any, *given: Any, lease: Any = None, **named: Any
    ) -> int:
        """See JobStore."""
        kinds = self.kinds
        self.kinds = kinds if lease else {}
        try:
            return super().transition(before, after, *given, lease=lease, **named)
        finally:
            self.kinds = kinds


class ForgetsAmendments(FakeJobStore):
    """Completes a job although its payload was amended after its claim."""

    def transition(self, before: Any, after: Any, *given: Any, **named: Any) -> int:
        """See JobStore."""
        stored = self.get(before.ref)
        known = before.amendments if stored is None else stored.amendments
        before, after = (replace(each, amendments=known) for each in (before, after))
        return super().transition(before, after, *given, **named)


class CountsTwice(FakeJobStore):
    """Counts the end of a child twice if the child was claimed more than once."""

    def _move(self, before: Any, after: Any, events: Any) -> None:
        super()._move(before, after, events)
        if before.fence > 1 and (ended := rules.counted(before, after)):
            self._count(before, ended, 1)


class EndsEarly(ParentEnds):
    """Ends a parent when one child of a counter is still pending."""

    def end(self, ref: JobRef, shard: int | None = None) -> bool:
        """See ParentEnds."""
        parent = self.store.get(ref)
        if parent is None or not rules.awaits_children(parent):
            return False
        counts = self.store.child_counts(ref, [shard or 0])
        if counts[0].pending > 1:
            return False
        now = self.clock()
        after = rules.end_of(parent, counts[0], now)
        self.store.transition(parent, after, [rules.status_event(after, now)])
        return True


class MissesNobody(FakeJobStore):
    """Never returns a running driven job to wake, so that its execution may die unnoticed."""

    def to_wake(
        self, shard: int, until: datetime, limit: int, after: DuePosition | None = None
    ) -> DuePage:
        """See JobStore."""
        page = super().to_wake(shard, until, limit, after)
        jobs = ((ref, self.get(ref)) for ref in page.refs)
        refs = tuple(ref for ref, job in jobs if job and not _is_driven(job))
        return replace(page, refs=refs)


def _is_driven(job: Job) -> bool:
    return job.kind == DRIVEN and job.status is JobStatus.RUNNING


class KeepsFirstEnds(FakeJobStore):
    """Purges a parent's counters by its first end, even if it runs again."""

    def _keep(self, job: Job) -> None:
        row = StoredRow("counters", job.ref)
        first = self._purge_at.get(row)
        super()._keep(job)
        if first is not None:
            self._purge_at[row] = first


class KeepsKeysFromCreation(FakeJobStore):
    """Purges a duplicate key by its job's creation time, however long the job lives."""

    def _hold(self, job: Job, key: str) -> None:
        super()._hold(job, key)
        self._purge_at[StoredRow("key", job.ref, key)] = job.created_at + self.kept

    def _keep(self, job: Job) -> None:
        super()._keep(job)
        if job.duplicate_key is not None:
            row = StoredRow("key", job.ref, job.duplicate_key)
            self._purge_at[row] = job.created_at + self.kept


class NeverSweeps(Relay):
    """Never relays the events that a dead writer left in the outbox."""

    def sweep(self) -> RelayResult:
        """See Relay."""
        return RelayResult()


class ForgetsReservations(FakeJobStore):
    """Omits from a claim what its job waited for."""

    def claim(self, ref: JobRef, *given: Any) -> Any:
        """See JobStore."""
        claimed = super().claim(ref, *given)
        if hasattr(claimed, "lease"):
            return replace(claimed, job=replace(claimed.job, waiting_for=None))
        return claimed

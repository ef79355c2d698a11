"""A tenant's operations on its jobs: read, cancel, pause, resume and retry."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from spinneret.jobs import limits, rules
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import (
    ChildCounts,
    Job,
    JobEvent,
    JobFilter,
    JobRef,
    JobStatus,
    Transition,
)
from spinneret.jobs.placement import family_counts
from spinneret.jobs.ports import Holder, JobQueue, JobStore, Reopening, SubmissionRaced
from spinneret.jobs.worker import send
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    Conflict,
    Contended,
    DependencyUnavailable,
    LeaseLost,
    NotFound,
    existing,
)
from spinneret.kernel.paging import Page
from spinneret.kernel.races import until_written
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

_ALIVE = (JobStatus.PENDING, JobStatus.RUNNING, JobStatus.PAUSED)

_MOVES: Mapping[Transition, Callable[[Job, datetime], Job]] = {
    Transition.CANCEL: rules.cancel,
    Transition.PAUSE: rules.pause,
    Transition.RESUME: rules.resume,
    Transition.RETRY: rules.retry,
}


@service
class JobControl:
    """Read and move the jobs of one tenant."""

    store: JobStore
    queue: JobQueue
    kinds: Mapping[str, KindPolicy]
    clock: Clock

    def get(self, ref: JobRef) -> Job:
        """Return the job. Raises NotFound for an unknown id and for another tenant's id."""
        return existing(self.store.get(ref), "job")

    def page(self, tenant: str, wanted: JobFilter, after: str | None, limit: int) -> Page[Job]:
        """See JobStore.page."""
        return self.store.page(tenant, wanted, after, limit)

    def move(self, ref: JobRef, move: Transition) -> Job:
        """Cancel, pause, resume or retry a job; return the job after the move.

        Raises NotFound, Conflict if the job's status doesn't allow the move, and Contended if
        concurrent updates kept changing the job.
        """

        def moved() -> Job | None:
            before = self.get(ref)
            now = self.clock()
            after = _MOVES[move](before, now)
            event = rules.status_event(after, now, run=after.run, reason=move.value.upper())
            try:
                if move is Transition.RETRY:
                    holder, parent = self._holder(before), self._parent(before, now)
                    if parent is not None:
                        above = parent.after if isinstance(parent, Reopening) else parent
                        after = replace(after, parent_run=above.run)
                    self.store.begin_run(before, after, event, holder, parent)
                else:
                    self.store.transition(before, after, [event])
            except (LeaseLost, SubmissionRaced):  # a running job may renew its lease meanwhile
                return None
            if after.status is JobStatus.PENDING:
                send(self.queue, self.kinds, after, now)
            if rules.has_children_to_cancel(after):
                self._cancel_first_children(after)
            return after

        return until_written(moved, Contended("the job is changing; try again", retry_after=1))

    def counts(self, job: Job) -> ChildCounts | None:
        """See `family_counts`."""
        return family_counts(self.store, job)

    def cancel_children(self, parent: Job, most: int, after: str | None = None) -> str | None:
        """Cancel the live jobs among the next `most` children of a cancelled parent.

        The sweeper or their next claim cancels the other children. Returns the position to continue
        after, or None at the end of the children. Raises DependencyUnavailable.
        """
        for _ in range(0, most, bounds.LIST_LIMIT_MAX):
            page = self.store.children(parent.ref, _ALIVE, after, bounds.LIST_LIMIT_MAX)
            for ref in page.items:
                try:
                    self.move(ref, Transition.CANCEL)
                except (Conflict, Contended, NotFound):
                    continue  # it has ended by itself, or the next claim or round ends it
            after = page.after
            if after is None:
                break
        return after

    def _cancel_first_children(self, parent: Job) -> None:
        """Cancel some children at once. In an outage the sweeper does: the parent is cancelled."""
        try:
            self.cancel_children(parent, limits.CHILDREN_CANCELLED_PER_REQUEST)
        except DependencyUnavailable as error:
            facts = {"job_id": parent.id, "reason": error.message}
            logger.warning("children_left_to_sweeper", extra=facts)

    def _parent(self, job: Job, now: datetime) -> Reopening | Job | None:
        """Return the parent's move for a child's new run, the parent if it doesn't move, or None
        if there is none. Raises Conflict if it was cancelled.

        A parent that failed before all its children existed isn't reopened: it would end after this
        child, without the missing ones. Its own retry creates them.
        """
        if job.parent is None:
            return None
        parent = self.store.get(JobRef(tenant=job.tenant, job_id=job.parent))
        if parent is None or parent.status not in rules.TERMINAL:
            return parent
        after = rules.reopened(parent, now)
        if after.family is not None and after.family.cursor is not None:
            return parent
        event = rules.status_event(after, now, run=after.run, reason="CHILD_RETRIED")
        return Reopening(before=parent, after=after, event=event)

    def _holder(self, job: Job) -> Holder | None:
        """Return the job that holds the job's duplicate key. Raises Conflict if another live job
        does.
        """
        if job.duplicate_key is None:
            return None
        held = self.store.find_duplicates(job.tenant, [job.duplicate_key])
        holder = held.get(job.duplicate_key)
        if holder is None:
            return None
        if holder == job.id:
            return Holder(job_id=holder, job=job)
        other = self.store.get(JobRef(tenant=job.tenant, job_id=holder))
        if other is not None and other.status not in rules.TERMINAL:
            raise Conflict("a newer job does the same work", details={"job_id": other.id})
        return Holder(job_id=holder, job=other)

    def events(self, ref: JobRef, after: str | None, limit: int) -> list[JobEvent]:
        """Return the timeline after an event's id. Raises NotFound."""
        self.get(ref)
        return self.store.events(ref, after, limit)

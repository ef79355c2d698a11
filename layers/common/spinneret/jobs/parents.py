"""The ends of parents: the worker that ends the last child ends the parent; the sweeper catches
missed ends.
"""

import logging
from collections.abc import Sequence
from typing import Final

from spinneret.jobs import limits, rules
from spinneret.jobs.control import JobControl
from spinneret.jobs.models import Job, JobEvent, JobRef
from spinneret.jobs.ports import JobStore
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

_RACES: Final = 5  # last children of several shards may end at the same moment


@service
class ParentEnds:
    """Listener of the job store that ends parents."""

    store: JobStore
    clock: Clock

    def __call__(self, job: Job, _: Sequence[JobEvent]) -> None:
        """End the job's parent if this was its last child; never raises.

        After a crash or a store outage, the sweeper ends the parent.
        """
        try:
            if rules.awaits_children(job):
                self.end(job.ref)
            elif job.parent is not None and job.status in rules.TERMINAL:
                self.end(JobRef(tenant=job.tenant, job_id=job.parent), job.parent_shard)
        except DependencyUnavailable as error:
            logger.warning("parent_check_failed", extra={"job_id": job.id, "reason": error.message})

    def end(self, ref: JobRef, shard: int | None = None) -> bool:
        """End a parent without unfinished children; return whether it ended. Raises
        DependencyUnavailable.

        With `shard`, that counter is read first: the others aren't needed while it has unfinished
        children.
        """
        for _ in range(_RACES):
            if shard is not None and self.store.child_counts(ref, [shard])[0].pending:
                return False
            parent = self.store.get(ref)
            if parent is None or parent.family is None or not rules.awaits_children(parent):
                return False
            counts = self.store.child_counts(ref, range(parent.family.shards))
            if any(each.pending for each in counts):
                return False
            now = self.clock()
            after = rules.end_of(parent, rules.total(counts), now)
            event = rules.status_event(after, now, run=after.run, **dict(after.result or {}))
            try:
                self.store.transition(parent, after, [event], counted=counts)
            except LeaseLost:
                continue
            return True
        return False


@service
class ParentRecheck:
    """The sweeper's handling of a parent that is due."""

    store: JobStore
    ends: ParentEnds
    control: JobControl
    clock: Clock

    def __call__(self, job: Job) -> None:
        """End the parent, or cancel more of its children; reschedule while some are unfinished.

        Raises DependencyUnavailable and LeaseLost.
        """
        assert job.family is not None  # the job is a parent
        if rules.awaits_children(job):
            if not self.ends.end(job.ref):
                self.store.transition(job, rules.schedule_recheck(job, self.clock()))
            return
        counts = self.store.child_counts(job.ref, range(job.family.shards))
        if any(each.pending for each in counts):
            done = self.control.cancel_children(
                job, limits.CHILDREN_CANCELLED_PER_PASS, job.family.cancelled_to
            )
            self.store.transition(job, rules.cancelled_to(job, done, self.clock()))
        else:
            self.store.transition(job, rules.settled(job), counted=counts)

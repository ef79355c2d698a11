"""Handle messages of the marketplace lanes: they start executions, which do the work."""

import logging
from collections.abc import Callable

from spinneret.jobs import rules
from spinneret.jobs.children import Children
from spinneret.jobs.driven.ports import Executions
from spinneret.jobs.leases import Remaining, reclaim
from spinneret.jobs.models import Job, JobRef, JobStatus
from spinneret.jobs.ports import JobStore
from spinneret.jobs.worker import Context, Worker
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import LeaseLost
from spinneret.kernel.service import service
from spinneret.marketplace.kinds import PUBLISH
from spinneret.marketplace.publishing.commands import require_time

logger = logging.getLogger(__name__)


def batch_preparation(children: Children, clock: Clock) -> Callable[[Context], None]:
    """Return the preparation of a batch's execution. It creates all jobs, and restarts paused jobs
    and jobs that failed in an earlier run. It raises Defer before the batch's time."""

    def prepare(context: Context) -> None:
        require_time(context.job.payload, clock())
        children.create_planned(context)
        children.begin_again(context)

    return prepare


@service
class Dispatcher:
    """Handles messages of jobs and of batches.

    A batch is claimed, and its execution continues under the claim. A job isn't claimed: each step
    of its execution claims it again, so any number of executions may be started for one job.
    """

    store: JobStore
    batches: Worker
    executions: Executions
    clock: Clock

    def run(self, ref: JobRef, remaining: Remaining) -> None:
        """Start the execution of a batch or of a single job. Raises DependencyUnavailable."""
        job = self.store.get(ref)
        if job is None or job.kind != PUBLISH:
            self.batches.run(ref, remaining)
            return
        waiting = self._waiting(job)
        if waiting is None or self._is_led(waiting):
            logger.info("job_left", extra={"job_id": job.id, "status": job.status})
            return
        # Each message gets its own execution name: the execution of an earlier message may be
        # lost, and a name can't be used again.
        name = f"{waiting.id}-{waiting.fence}-{waiting.sends}"
        self.executions.start(name, {"tenant": waiting.tenant, "job_id": waiting.id})

    def _waiting(self, job: Job) -> Job | None:
        """Return the job if it is pending, or was reclaimed from a lost worker; else None."""
        now = self.clock()
        if rules.has_expired_lease(job, now):
            try:
                job = reclaim(self.store, job, now)
            except LeaseLost:
                return None
        return job if job.status is JobStatus.PENDING else None

    def _is_led(self, job: Job) -> bool:
        """Return whether the execution of the job's batch is alive and will take up the job
        itself."""
        if job.parent is None:
            return False
        batch = self.store.get(JobRef(tenant=job.tenant, job_id=job.parent))
        if batch is None or batch.status is not JobStatus.RUNNING or batch.locked_until is None:
            return False
        return batch.locked_until > self.clock()

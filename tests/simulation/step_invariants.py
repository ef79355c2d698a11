"""Rules for driven jobs: the work of their steps and the claims of their executions."""

from collections import defaultdict
from collections.abc import Callable

from spinneret.jobs.models import Job, JobRef, JobStatus, Lease

Check = Callable[[bool, JobRef, str], None]


class StepInvariants:
    """Checks that each part of a driven job's work is recorded under one valid claim only."""

    def __init__(self, check: Check) -> None:
        self._check = check
        self._recorded: defaultdict[JobRef, dict[int, int]] = defaultdict(dict)
        """Part → the fence under which it was recorded."""
        self._stepped: set[tuple[JobRef, int]] = set()
        """Claims under which a step has written."""

    def of(self, ref: JobRef) -> int:
        """Return how many parts of a job are done."""
        return len(self._recorded[ref])

    def record(self, lease: Lease, number: int) -> None:
        """Check a step's accepted write; a retried step may write twice."""
        ref = JobRef(tenant=lease.tenant, job_id=lease.job_id)
        recorded = self._recorded[ref]
        before = recorded.setdefault(number, lease.fence)
        self._check(before == lease.fence, ref, f"part {number} was done again in another claim")
        self._check(len(recorded) >= number, ref, f"part {number} was done before its turn")

    def step_moved(self, was: Job, job: Job) -> None:
        """Check a step's accepted transition."""
        self._stepped.add((was.ref, was.fence))
        match job.status:
            case JobStatus.RUNNING:
                self._check(job.fence == was.fence, job.ref, "a step changed the fence")
                kept = was.attempts if job.progress == was.progress else 0
                self._check(job.attempts == kept, job.ref, "a step changed the attempts")
            case JobStatus.COMPLETED:
                done = self.of(job.ref) == job.payload["parts"]
                self._check(done, job.ref, "it completed before all its parts were done")
            case JobStatus.PENDING:
                self._check(job.attempts == 0, job.ref, "a segment's end left its attempts")

    def worker_moved(self, job: Job) -> None:
        """Check the write of a worker under its claim: no step may have written under it before."""
        late = (job.ref, job.fence) in self._stepped
        self._check(not late, job.ref, "a worker wrote over its execution's lease")

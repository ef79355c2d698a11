"""Detect audit sessions that won't continue."""

from collections.abc import Callable

from spinneret.audits.models import RunRef
from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobRef, JobStatus

LookUp = Callable[[JobRef], Job | None]


def has_left(look_up: LookUp) -> Callable[[str], bool]:
    """Return a function that says whether the audit of a session no longer continues.

    It has ended, is paused, or is in another run. An audit that is resumed later opens its session
    again.
    """

    def is_over(session_id: str) -> bool:
        ref = RunRef.of_session(session_id)
        job = look_up(JobRef(tenant=ref.tenant, job_id=ref.audit_id))
        if job is None or job.run != ref.run:
            return True
        return job.status in rules.TERMINAL or job.status is JobStatus.PAUSED

    return is_over

"""The job kind of audits, and its lane."""

from typing import Final

from spinneret.audits import limits
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import Lane, Priority

AUDIT: Final = "audit"

KINDS: Final = {
    # Audits defer themselves while they wait for a slow host or a lock. A redrive would restart a
    # failed audit every few minutes, and audit the whole site each time.
    AUDIT: KindPolicy(
        lanes=dict.fromkeys(Priority, Lane("audit")),
        subject="url",
        events="audit",
        work_seconds=limits.WORK_SECONDS,
        pending_seconds=limits.PENDING_SECONDS,
    )
}

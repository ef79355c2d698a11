"""The kind of work that an audit is, and its lane."""

from __future__ import annotations

from typing import Final

from spinneret.audits import limits
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import Lane, Priority

AUDIT: Final = "audit"

KINDS: Final = {
    # An audit's own waits (a slow host, a lock) are deferrals; a redrive would begin a failed one
    # again every few minutes, and audit the site anew each time.
    AUDIT: KindPolicy(
        lanes=dict.fromkeys(Priority, Lane("audit")),
        subject="url",
        events="audit",
        work_seconds=limits.WORK_SECONDS,
        pending_seconds=limits.PENDING_SECONDS,
    )
}

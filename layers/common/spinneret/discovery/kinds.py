"""The kind of discovery jobs, and its lane."""

from typing import Final

from spinneret.discovery import limits
from spinneret.jobs.kinds import KindPolicy
from spinneret.jobs.models import Lane, Priority
from spinneret.kernel import bounds

DISCOVER: Final = "discover"
LANE: Final = Lane("discovery")

KINDS: Final = {
    DISCOVER: KindPolicy(
        lanes=dict.fromkeys(Priority, LANE),
        subject="domain",
        events="discovery",
        max_redrives=bounds.REDRIVES,
        work_seconds=limits.DISCOVERY_SECONDS + bounds.JOB_WORK_SECONDS,
        pending_seconds=bounds.JOB_PENDING_SECONDS,
    )
}

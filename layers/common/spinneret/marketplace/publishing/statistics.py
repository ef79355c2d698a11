"""Daily statistics of action types."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from spinneret.jobs import rules
from spinneret.jobs.models import Job, JobEvent, JobStatus
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.service import service
from spinneret.marketplace.kinds import PUBLISH

logger = logging.getLogger(__name__)

COUNTED: Final = ("completed", "failed", "cancelled", "expired")


@dataclass(frozen=True, kw_only=True)
class DayOfAction:
    """Counts of an action type's runs that ended on one day (UTC)."""

    day: str
    marketplace: str
    action_code: str
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    expired: int = 0
    seconds: int = 0
    """Seconds from first claim to end, summed over all runs."""


class ActionStatisticsStore(Protocol):
    """Counters by tenant and day. Raises DependencyUnavailable."""

    def count(self, job: Job, outcome: str, seconds: int) -> None:
        """Add the end of a run; repeated calls count it once."""

    def of_day(self, tenant: str, day: str) -> list[DayOfAction]:
        """Return all action types with runs that ended on a day."""


@service
class ActionStatistics:
    """Listener of the job store that counts ended runs."""

    store: ActionStatisticsStore

    def __call__(self, job: Job, _: Sequence[JobEvent]) -> None:
        """Count the end of a run; never raises.

        Every function that may end a marketplace job has this listener: the workers, the routes and
        the sweeper. If a crash prevents the call, the end is missing in the statistics only.
        """
        if job.kind != PUBLISH or job.status not in rules.TERMINAL:
            return
        outcome = "failed" if job.status is JobStatus.PARTIALLY_FAILED else job.status.value
        began, ended = job.started_at, job.finished_at
        seconds = round((ended - began).total_seconds()) if began and ended else 0
        try:
            self.store.count(job, outcome, seconds)
        except DependencyUnavailable as error:
            logger.warning("not_counted", extra={"job_id": job.id, "reason": error.message})

"""Kinds of work: how jobs of a kind are queued and retried.

A domain declares its kinds in its own module `kinds.py`, as a mapping `KINDS`. `all_kinds` finds
them by that name, so there is no list of domains.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from spinneret.jobs.models import Lane, Priority
from spinneret.kernel import bounds
from spinneret.kernel.declarations import declared
from spinneret.kernel.metrics import Metric


@dataclass(frozen=True, kw_only=True)
class EndMetrics:
    """Metrics of the ends of a kind's jobs."""

    succeeded: Metric
    failed: Metric
    """Also of jobs that expired."""
    ended: Metric | None = None
    """Counts all ends, cancellations included."""
    duration: Metric | None = None
    """Milliseconds from the first claim to a successful end."""


@dataclass(frozen=True, kw_only=True)
class KindPolicy:
    """Queueing and retry settings of one kind."""

    lanes: Mapping[Priority, Lane]
    """Queue lane for each priority. The queue is named `spinneret-<stage>-<lane>`."""
    subject: str | None = None
    """Payload field that names the subject of a job, as shown in lists."""
    max_attempts: int = bounds.JOB_MAX_ATTEMPTS
    max_redrives: int = 0
    work_seconds: float = bounds.JOB_WORK_SECONDS
    events: str | None = None
    """Prefix of the event types that report the end of a run (`crawl` → `crawl.completed`); None
    emits no event.
    """
    ends_in_part: bool = True
    """Whether a job may end with a partial result, which is reported by its own event type."""
    result_seconds: int = bounds.RESULT_FRESH_SECONDS
    """Time in seconds for which a result is reused for further submissions of the same work."""
    pending_seconds: float | None = None
    """Maximum seconds a job waits for its first claim, and maximum seconds it is deferred in all,
    before it expires; None means no limit.
    """
    holds_steps: bool = False
    """Whether a step within STEPS_HELD_SECONDS of the last write is written with the next one, and
    a parent may have been cancelled or paused for PARENT_KNOWN_SECONDS when a child begins.

    Only for kinds that change nothing outside, since a held step doesn't check the claim.
    """
    looks_before_expiry: bool = False
    """Whether a started job is claimed once more when it expires, as `Job.ending`; for kinds that
    act on foreign systems, which our transactions don't cover.
    """
    end_metrics: EndMetrics | None = None

    def subject_of(self, payload: Mapping[str, Any]) -> str | None:
        """Return the subject of a job of this kind; None if the kind has none."""
        subject = payload.get(self.subject) if self.subject else None
        return subject if isinstance(subject, str) else None


Kinds = Mapping[str, KindPolicy]


@cache
def all_kinds() -> Kinds:
    """Return the kinds of all domains, by name. Raises ValueError for a duplicate name."""
    found: dict[str, KindPolicy] = {}
    kinds: Kinds
    for kinds in declared("kinds.py", "KINDS"):
        for kind in kinds:
            if kind in found:
                raise ValueError(f"two domains declare the kind {kind}")
        found |= kinds
    return found


def all_lanes() -> tuple[Lane, ...]:
    """Return the lanes of all kinds, sorted by name."""
    return tuple(sorted({lane for kind in all_kinds().values() for lane in kind.lanes.values()}))

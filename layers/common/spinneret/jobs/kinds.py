"""Kinds of work: how jobs of a kind are queued and retried.

A domain declares its kinds in a module of its own, `kinds.py`, as a mapping `KINDS`; `all_kinds`
finds them by that name, so that no list of domains stands anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from spinneret.jobs.models import Lane, Priority
from spinneret.kernel import bounds
from spinneret.kernel.declarations import declared


@dataclass(frozen=True, kw_only=True)
class KindPolicy:
    """How jobs of one kind are queued and retried."""

    lanes: Mapping[Priority, Lane]
    """The queue for each priority. A lane's name ends its queue's: `spinneret-<stage>-<lane>`."""
    subject: str | None = None
    """The field of the payload that says what a job is about, as lists show it."""
    max_attempts: int = bounds.JOB_MAX_ATTEMPTS
    max_redrives: int = 0
    work_seconds: float = bounds.JOB_WORK_SECONDS
    events: str | None = None
    """What the types of the events that report a run's end begin with (`crawl.completed` by
    `crawl`); a kind without it emits none."""
    ends_in_part: bool = True
    """Whether a job may end with a part of its result, which then is an event of its own."""
    result_seconds: int = bounds.RESULT_FRESH_SECONDS
    """How long a result answers for a further submission of the same work."""
    pending_seconds: float | None = None
    """How long a job may wait for its first claim, and how long deferred in all, before it expires;
    None waits for ever."""
    looks_before_expiry: bool = False
    """Whether a job that has begun is claimed once more when its time is over, as `Job.ending`:
    for kinds that act where no transaction of ours reaches."""

    def subject_of(self, payload: Mapping[str, Any]) -> str | None:
        """What a job of this kind is about; None where its kind doesn't say."""
        subject = payload.get(self.subject) if self.subject else None
        return subject if isinstance(subject, str) else None


Kinds = Mapping[str, KindPolicy]


@cache
def all_kinds() -> Kinds:
    """The kinds of all domains, by name; raises ValueError for a name that two domains declare."""
    found: dict[str, KindPolicy] = {}
    kinds: Kinds
    for kinds in declared("kinds.py", "KINDS"):
        for kind in kinds:
            if kind in found:
                raise ValueError(f"two domains declare the kind {kind}")
        found |= kinds
    return found


def all_lanes() -> tuple[Lane, ...]:
    """The lanes of all kinds, by name."""
    return tuple(sorted({lane for kind in all_kinds().values() for lane in kind.lanes.values()}))

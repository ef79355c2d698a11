"""The kinds of work and their policies: one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.jobs.models import Lane, Priority
from spinneret.kernel import bounds


@dataclass(frozen=True, kw_only=True)
class KindPolicy:
    """How jobs of one kind are queued and retried."""

    lanes: Mapping[Priority, Lane]
    max_attempts: int = bounds.JOB_MAX_ATTEMPTS
    max_redrives: int = 0
    work_seconds: float = bounds.JOB_WORK_SECONDS
    pending_seconds: float | None = None
    """How long a job may wait for its first claim, and how long politely in all, before it expires;
    None waits for ever."""


CRAWL_LANES: Mapping[Priority, Lane] = {
    Priority.CRITICAL: Lane.CRAWL_HIGH,
    Priority.HIGH: Lane.CRAWL_HIGH,
    Priority.NORMAL: Lane.CRAWL_NORMAL,
    Priority.LOW: Lane.CRAWL_LOW,
}

KINDS: Mapping[str, KindPolicy] = {
    "crawl": KindPolicy(
        lanes=CRAWL_LANES,
        max_redrives=bounds.REDRIVES,
        pending_seconds=bounds.JOB_PENDING_SECONDS,
    ),
    # Five attempts over 2.6 hours are the whole series (P-10): a redrive would begin it again every
    # five minutes. A tenant redelivers by its own word.
    "delivery": KindPolicy(
        lanes=dict.fromkeys(Priority, Lane.DELIVERY),
        max_attempts=bounds.DELIVERY_ATTEMPTS,
        pending_seconds=bounds.JOB_PENDING_SECONDS,
    ),
}

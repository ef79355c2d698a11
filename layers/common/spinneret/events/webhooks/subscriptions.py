"""Which events an endpoint subscribes to, by exact names and by wildcards.

The end of a job has two names: what its kind declares (`crawl.completed`), and `job.completed` or
`job.failed`, which stand for the ends of all kinds. `*` takes every event, `crawl.*` those that
begin with `crawl.`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from spinneret.events.webhooks.models import WebhookEvent
from spinneret.jobs.models import JobStatus

ALL: Final = "*"
_LEVEL: Final = ".*"
_OF_JOBS: Final = (WebhookEvent.JOB_COMPLETED.value, WebhookEvent.JOB_FAILED.value)
_SHORT: Final[Mapping[str, str]] = {
    "completed": WebhookEvent.JOB_COMPLETED.value,
    "failed": WebhookEvent.JOB_FAILED.value,
}


def pattern_of(text: str, declared: Collection[str]) -> str:
    """What an endpoint stores for a name in a request. Raises ValueError for one that never comes.

    `completed` and `failed` stand for the ends of jobs. `declared` are the types of all domains.
    """
    text = _SHORT.get(text, text)
    names = {*declared, *_OF_JOBS}
    if not any(_matches(text, name) for name in names):
        raise ValueError(f"no event is called {text}")
    return text


def job_name(end: JobStatus) -> str:
    """The name that the ends of all kinds have; every end but a completion counts as a failure."""
    event = WebhookEvent.JOB_COMPLETED if end is JobStatus.COMPLETED else WebhookEvent.JOB_FAILED
    return event.value


def name_for(patterns: Collection[str], event_type: str, end: JobStatus | None) -> str | None:
    """The name under which an endpoint gets an event, once; None when it doesn't subscribe to it.

    `end` is what the event reports, if it is the end of a job. Whoever names `job.…` gets it under
    that name, whatever else it names.
    """
    if end is not None and any(
        pattern != ALL and _matches(pattern, job_name(end)) for pattern in patterns
    ):
        return job_name(end)
    return event_type if any(_matches(pattern, event_type) for pattern in patterns) else None


def _matches(pattern: str, name: str) -> bool:
    if pattern.endswith(_LEVEL):
        return name.startswith(pattern.removesuffix("*"))
    return pattern in {ALL, name}

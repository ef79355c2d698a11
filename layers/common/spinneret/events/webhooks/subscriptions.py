"""Events that an endpoint subscribes to, by exact names and by wildcards.

The end of a job has two names: the one that its kind declares (`crawl.completed`), and
`job.completed` or `job.failed`, which cover the ends of all kinds. `*` matches every event,
`crawl.*` matches events that begin with `crawl.`.
"""

from collections.abc import Collection, Mapping
from typing import Final

from spinneret.access.trail.event_types import EVENT_TYPES as OF_ACCOUNTS
from spinneret.events.webhooks.models import Endpoint, RequestedEndpoint, WebhookEvent
from spinneret.jobs.models import JobStatus
from spinneret.kernel.errors import Forbidden
from spinneret.kernel.hints import nearest

ALL: Final = "*"
_LEVEL: Final = ".*"
_OF_JOBS: Final = (WebhookEvent.JOB_COMPLETED.value, WebhookEvent.JOB_FAILED.value)
_SHORT: Final[Mapping[str, str]] = {
    "completed": WebhookEvent.JOB_COMPLETED.value,
    "failed": WebhookEvent.JOB_FAILED.value,
}


def pattern_of(text: str, declared: Collection[str]) -> str | None:
    """Return the stored pattern for a name in a request; None if no event matches it.

    `completed` and `failed` mean the ends of jobs. `declared` are the types of all domains.
    """
    text = _SHORT.get(text, text)
    return text if any(_matches(text, name) for name in {*declared, *_OF_JOBS}) else None


def hint_at(text: str, declared: Collection[str]) -> str | None:
    """Return a hint for a name that matches no event: the most similar one, or all that begin
    alike, or the prefixes of all."""
    names = sorted({*declared, *_OF_JOBS})
    alike = [name for name in names if _matches(_level_of(text), name)]
    return nearest(text, names, alike or [ALL, *dict.fromkeys(map(_level_of, names))])


def job_name(end: JobStatus) -> str:
    """Return the common name of the ends of all kinds; every end but a completion is a failure."""
    event = WebhookEvent.JOB_COMPLETED if end is JobStatus.COMPLETED else WebhookEvent.JOB_FAILED
    return event.value


def name_for(patterns: Collection[str], event_type: str, end: JobStatus | None) -> str | None:
    """Return the name under which an endpoint gets an event, once; None if it doesn't subscribe.

    `end` is the job's status if the event is the end of a job. An endpoint that names `job.…` gets
    it under that name, regardless of its other patterns.
    """
    if end is not None and any(
        pattern != ALL and _matches(pattern, job_name(end)) for pattern in patterns
    ):
        return job_name(end)
    return event_type if any(_matches(pattern, event_type) for pattern in patterns) else None


def require_readable(requested: RequestedEndpoint) -> None:
    """Raise Forbidden for events of accounts, unless by `*`, if the caller may not read them."""
    patterns = requested.events - {ALL}
    named = any(_matches(each, name) for each in patterns for name in OF_ACCOUNTS)
    if requested.without_accounts and named:
        raise Forbidden("events of accounts require scope admin and permission manage_users")


def may_get(endpoint: Endpoint, event_type: str) -> bool:
    """Return whether an endpoint may get events of this type."""
    return not endpoint.without_accounts or event_type not in OF_ACCOUNTS


def _level_of(name: str) -> str:
    """Return the pattern of all events that begin as this one, such as `crawl.*`."""
    return name.partition(".")[0] + _LEVEL


def _matches(pattern: str, name: str) -> bool:
    if pattern.endswith(_LEVEL):
        return name.startswith(pattern.removesuffix("*"))
    return pattern in {ALL, name}

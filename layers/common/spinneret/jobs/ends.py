"""Domain event that reports the end of a run.

`KindPolicy.events` is the prefix of a kind's event types: `deep_crawl` makes
`deep_crawl.completed`, `deep_crawl.partially_failed` (unless its jobs never end in part),
`deep_crawl.failed` and `deep_crawl.expired`. A cancelled job emits no event, because its tenant
cancelled it. A child emits none, because its parent reports the end of all children.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from spinneret.jobs.api_models import job_view
from spinneret.jobs.kinds import EndMetrics, Kinds
from spinneret.jobs.models import Job, JobEvent, JobEventKind, JobStatus
from spinneret.jobs.ports import Listener
from spinneret.kernel import bounds
from spinneret.kernel.canonical import canonical_json
from spinneret.outbox.models import DomainEvent
from spinneret.outbox.ports import RelayEvents
from spinneret.redaction import redact, redact_text

REPORTED: Final = (
    JobStatus.COMPLETED,
    JobStatus.PARTIALLY_FAILED,
    JobStatus.FAILED,
    JobStatus.EXPIRED,
)
"""Statuses at the end of a run that an event reports."""


def end_event(before: Job, after: Job, kinds: Kinds) -> DomainEvent | None:
    """Return the event of a transition that ends a run, or None if the job emits none.

    A run ends once, and the fence rises with every run.
    """
    if before.status == after.status or not is_reported(after, kinds):
        return None
    assert after.finished_at is not None  # the job has ended
    return DomainEvent(
        tenant=after.tenant,
        type=f"{kinds[after.kind].events}.{after.status}",
        subject=after.id,
        sequence=after.fence,
        occurred_at=after.finished_at,
        data=_data(after),
        targets=after.notify,
    )


def is_reported(job: Job, kinds: Kinds) -> bool:
    """Return whether the job has ended with a status that an event reports."""
    policy = kinds.get(job.kind) if job.parent is None else None
    return policy is not None and policy.events is not None and job.status in REPORTED


def end_of(event_type: str, kinds: Kinds) -> JobStatus | None:
    """Return the status that an event type reports; None for events that report something else."""
    ends = {
        f"{policy.events}.{status}": status
        for policy in kinds.values()
        if policy.events is not None
        for status in REPORTED
        if status is not JobStatus.PARTIALLY_FAILED or policy.ends_in_part
    }
    return ends.get(event_type)


def relaying(kinds: Kinds, relay_events: RelayEvents) -> Listener:
    """Return a listener that relays the event of each end."""

    def listener(job: Job, _: Sequence[JobEvent]) -> None:
        if is_reported(job, kinds):
            relay_events(job.tenant, job.id)

    return listener


def measuring(kinds: Kinds) -> Listener:
    """Return a listener that counts the ends of the kinds that declare metrics."""

    def listener(job: Job, events: Sequence[JobEvent]) -> None:
        policy = kinds.get(job.kind)
        ends = any(
            event.kind is JobEventKind.STATUS_CHANGED and event.data["status"] == job.status
            for event in events
        )
        if policy is not None and policy.end_metrics is not None and ends:
            _measure(job, policy.end_metrics)

    return listener


def _measure(job: Job, end: EndMetrics) -> None:
    if job.finished_at is None:
        return  # the job continues
    if end.ended is not None:
        end.ended.add()
    if job.status in (JobStatus.FAILED, JobStatus.EXPIRED):
        end.failed.add()
    elif job.status is JobStatus.COMPLETED:
        end.succeeded.add()
        if end.duration is not None and job.started_at is not None:
            end.duration.add((job.finished_at - job.started_at) // timedelta(milliseconds=1))


def _data(job: Job) -> dict[str, Any]:
    """Return the job's end as event data, with secrets redacted from the crawled URLs.

    Data over OUTBOX_DATA_BYTES loses its result and gets `truncated`; the job's own route has it.
    """
    view = job_view(job)
    url = job.payload.get("url")
    reported = {
        "job_id": job.id,
        "kind": job.kind,
        "run": job.run,
        "status": job.status.value,
        "url": redact_text(url) if isinstance(url, str) else None,
        "domain": job.domain,
        "result": redact(view.result),
        "error": view.error,
    }
    data = _present(reported)
    if len(canonical_json(data)) <= bounds.OUTBOX_DATA_BYTES:
        return data
    return _present({**data, "result": None, "truncated": True})


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
